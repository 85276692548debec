"""The server's thread of a connection, where no table names it: found by its CPU time in statements of known work.

MySQL before 5.7 shows no thread ids, and later ones may close performance_schema. The process is the one at the other
end of the connection's socket. Its thread is the one whose CPU time grows in proportion to the work of each of several
statements, and not at all between them. One thread alone must do so, twice; else the thread is not known.
"""

from __future__ import annotations

import random
import time

from tare.dbms import local
from tare.dbms.base import Leader
from tare.dbms.mariadb import roles
from tare.dbms.mariadb.wire import Wire

HOW = "CPU time of the server's threads during statements of known work"
TRIES = 8
_PARTS = (1, 2, 3, 4)  # work of a try's statements, in another order each time
_STEP = 50_000  # repetitions of one part: about 0.3 ms
_STATEMENT = "DO BENCHMARK({count}, 1 + 1)"
_SPREAD = 1.6  # greatest over least CPU time of a repetition
_IDLE = 0.05  # CPU time between statements, over that of the least
_SETTLE_S = 0.001  # until the thread waits for the next statement: only then is its CPU time up to date
_HANDLING = "SELECT @@GLOBAL.thread_handling"
_OWN_THREAD = "one-thread-per-connection"


def find(wire: Wire) -> tuple[Leader | None, str]:
    """Return the leader and "", or None and the reason; "" where the server is not on this machine."""
    pid = local.peer(wire.descriptor)
    if pid is None:
        return None, ""
    if not roles.is_server(pid):
        name = local.command_name(pid) or "a process that is not visible"
        return None, f"the other end of the connection is {name} (process {pid}), which is no server of MySQL"
    handling = str(wire.query(_HANDLING)[0][0])
    if handling != _OWN_THREAD:
        return None, f"the server has thread_handling = {handling}: any of its threads may run a statement"
    seen: set[int] = set()
    for _ in range(TRIES):
        threads = fitting(*_observe(wire, pid))
        if len(threads) != 1:
            continue
        if seen == set(threads):
            return Leader(pid=pid, tid=threads[0], how=HOW, whole_process=False), ""
        seen.update(threads)
    return None, (
        f"the server does not show it, and in {TRIES} tries no single thread of process {pid} used CPU "
        "time in proportion to statements of known work"
    )


def fitting(counts: list[int], spun: list[dict[int, int]], rested: list[dict[int, int]]) -> list[int]:
    """Return the threads whose CPU time fits statements of `counts` repetitions.

    `spun`: ns of each thread in each statement; `rested`: the same in the pause behind each."""
    threads = set.intersection(*(set(times) for times in spun))
    found = []
    for thread in threads:
        times = [growth[thread] for growth in spun]
        rates = [time_ns / count for time_ns, count in zip(times, counts, strict=True)]
        idle = max(pause.get(thread, 0) for pause in rested)
        if min(rates) > 0 and max(rates) <= _SPREAD * min(rates) and idle <= _IDLE * min(times):
            found.append(thread)
    return sorted(found)


def _observe(wire: Wire, pid: int) -> tuple[list[int], list[dict[int, int]], list[dict[int, int]]]:
    counts = [part * _STEP for part in random.sample(_PARTS, len(_PARTS))]
    spun, rested = [], []
    before = local.run_ns(pid)
    for count in counts:
        wire.query(_STATEMENT.format(count=count))
        time.sleep(_SETTLE_S)
        after = local.run_ns(pid)
        time.sleep(_SETTLE_S)
        later = local.run_ns(pid)
        spun.append(_growth(before, after))
        rested.append(_growth(after, later))
        before = later
    return counts, spun, rested


def _growth(before: dict[int, int], after: dict[int, int]) -> dict[int, int]:
    return {thread: ns - before[thread] for thread, ns in after.items() if thread in before}
