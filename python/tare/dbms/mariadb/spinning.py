"""The thread of a connection whose server does not name it (MySQL before 5.7): it computes when it is told to.

The connection runs a statement that only computes, several times, with a pause after each. Its thread is the only one
that was on the CPU during every statement and off it during every pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 3
_ENOUGH_NS = 20_000_000  # of CPU time that one statement is to use
_BUSY_NS = (
    12_000_000  # of it that the kernel shows at once, at least: a tick of the last slice may be missing
)
_IDLE_NS = 6_000_000  # that appears in a pause, at most
_PAUSE_S = 0.02
_FIRST_COUNT = 20_000
_MOST_COUNT = 50_000_000


def thread_of(pid: int, run: Callable[[str], object]) -> int | None:
    """Thread of the process `pid` that runs the statements given to `run`; None where that is not plain."""
    count = _FIRST_COUNT
    while max(_used(pid, run, count).values(), default=0) < _ENOUGH_NS and count < _MOST_COUNT:
        count *= 2
    found = set(_run_ns(pid))
    for _ in range(ROUNDS):
        found &= {tid for tid, ns in _used(pid, run, count).items() if ns >= _BUSY_NS}
        found &= {tid for tid, ns in _used(pid, lambda _: time.sleep(_PAUSE_S), 0).items() if ns <= _IDLE_NS}
    return found.pop() if len(found) == 1 else None


def _used(pid: int, run: Callable[[str], object], count: int) -> dict[int, int]:
    """CPU time of each thread while the statement ran."""
    before = _run_ns(pid)
    run(f"DO BENCHMARK({count}, SHA1('tare'))")
    return {tid: ns - before.get(tid, 0) for tid, ns in _run_ns(pid).items()}


def _run_ns(pid: int) -> dict[int, int]:
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            found[int(thread.name)] = int((thread / "schedstat").read_text().split()[0])
        except (OSError, IndexError):
            continue  # it ended
    return found
