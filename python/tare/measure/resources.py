"""The resources view: CPU and I/O summed over every process that worked for the query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tare.dbms.base import Leader, Role
from tare.measure.lacks import Cause, Lack
from tare.measure.records import Fate, ProcessUse, Resources


def can_have_waited_ns(threads: int, interval_ns: int) -> int:
    """Return the most block-I/O delay, ns, that so many threads can have in an interval.

    Linux 6.18 was seen to count waits from the machine's start on: multiples of its uptime. Twice, and for one thread
    more: threads that ended in the interval have waited, too."""
    return 2 * (threads + 1) * interval_ns


def resources_view(
    processes: Sequence[ProcessUse], came_and_went: int = 0, interval_ns: int | None = None
) -> Resources:
    """A sum is None where one of its processes lacks the counter; `why` names it. `interval_ns`: between the snapshots,
    for delays that are longer than possible.

    `came_and_went` counts tasks that lived and died between the snapshots without a record: where there is
    no exit listener they may have been the query's workers, and `why` says so beside the sum.
    """
    query = [p for p in processes if p.role is Role.QUERY]
    utility = [p for p in processes if p.role is Role.UTILITY]
    unattributed = [p for p in processes if p.role is not Role.QUERY and p.relation is not None]
    why: dict[str, Lack] = {}

    def total(group: Iterable[ProcessUse], name: str, key: str) -> int | None:
        values = 0
        for process in group:
            value = getattr(process, name)
            if value is None:
                why[key] = _unreadable(name, process)
                return None
            if (
                name == "block_io_ns"
                and interval_ns is not None
                and value > can_have_waited_ns(process.threads, interval_ns)
            ):
                why[key] = Lack(Cause.IMPOSSIBLE_DELAY, process=process.pid, process_name=process.comm)
                return None
            values += value
        return values

    helper = next((p for p in query if p.relation is not None), None)
    if helper is not None:
        why["instructions"] = Lack(Cause.HELPERS_UNCOUNTED, process=helper.pid, process_name=helper.comm)
    unseen = [p for p in query if p.fate is Fate.UNSEEN_END]
    if unseen:
        why["cpu"] = Lack(Cause.UNSEEN_ENDS, tasks=len(unseen))
    elif came_and_went > 0:
        why["cpu"] = Lack(Cause.UNSEEN_LIVES, tasks=came_and_went)
    return Resources(
        processes=len(query),
        cpu_ns=total(query, "run_ns", "cpu"),
        user_ns=total(query, "user_ns", "user"),
        system_ns=total(query, "system_ns", "system"),
        block_io_ns=total(query, "block_io_ns", "block_io"),
        run_queue_ns=total(query, "run_queue_ns", "run_queue"),
        read_bytes=total(query, "read_bytes", "read_bytes"),
        write_bytes=total(query, "write_bytes", "write_bytes"),
        utility_cpu_ns=total(utility, "run_ns", "utility_cpu"),
        utility_block_io_ns=total(utility, "block_io_ns", "utility_block_io"),
        utility_read_bytes=total(utility, "read_bytes", "utility_read_bytes"),
        unattributed_cpu_ns=total(unattributed, "run_ns", "unattributed_cpu"),
        why=why,
    )


def with_leader(resources: Resources, leader: Leader, leader_cpu_ns: int | None) -> Resources:
    """Return the view with the CPU time split into the leader's and its workers'.

    `leader_cpu_ns` is the run time of the leader's thread between the same snapshots. In a server with a thread for
    each connection what the other threads did is not known to be the query's."""
    why = dict(resources.why)
    workers = None
    if not leader.whole_process and leader.tid != leader.pid:
        why["workers_cpu"] = Lack(Cause.SHARED_PROCESS)
    elif leader_cpu_ns is None:
        why["leader_cpu"] = why["workers_cpu"] = Lack(Cause.LEADER_UNSEEN)
    elif resources.cpu_ns is None:
        why["workers_cpu"] = why["cpu"]
    else:
        workers = resources.cpu_ns - leader_cpu_ns
    return replace(resources, leader_cpu_ns=leader_cpu_ns, workers_cpu_ns=workers, why=why)


def _unreadable(name: str, process: ProcessUse) -> Lack:
    cause = Cause.BORN_BEFORE_DELAYS if name == "block_io_ns" else Cause.UNREADABLE
    return Lack(cause, counter=name, process=process.pid, process_name=process.comm)
