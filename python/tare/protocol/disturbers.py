"""Who else ran while the query did: the other processes by run time (TTPv2 §7.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Role
from tare.measure.records import QE, ProcessUse

TOP = 5


@dataclass(frozen=True, slots=True)
class Disturber:
    """Processes of one name and role. Times are means over the QEs."""

    comm: str
    role: Role
    kernel: bool
    pids: tuple[int, ...]
    run_ms: float  # a QE
    share: float  # of what all CPUs could give in the wall time
    on_query_cpus_ms: float  # by those last seen on a CPU that a query process was last seen on


def disturbers(qes: Sequence[QE], tick_ns: int, top: int = TOP) -> tuple[Disturber, ...]:
    """The `top` groups of processes that are not the query's, by run time, highest first.

    Run time is between the per-process snapshots, which enclose the clocked interval; where a
    process's exact run time is unknown its ticks stand in.
    """
    run: defaultdict[tuple[str, Role, bool], float] = defaultdict(float)
    near: defaultdict[tuple[str, Role, bool], float] = defaultdict(float)
    pids: defaultdict[tuple[str, Role, bool], set[int]] = defaultdict(set)
    capacity = 0.0
    for qe in qes:
        if qe.elapsed is not None:
            capacity += qe.elapsed.wall_ns * qe.online_cpus
        query_cpus = {p.cpu for p in qe.processes if p.role is Role.QUERY and p.cpu >= 0}
        for process in qe.processes:
            used = run_ns(process, tick_ns)
            if process.role is Role.QUERY or used <= 0:
                continue
            key = (process.comm, process.role, process.kernel)
            run[key] += used
            pids[key].add(process.pid)
            if process.cpu in query_cpus:
                near[key] += used
    ranked = sorted(run, key=lambda key: (-run[key], key[0], key[1]))
    return tuple(
        Disturber(
            comm=key[0],
            role=key[1],
            kernel=key[2],
            pids=tuple(sorted(pids[key])),
            run_ms=run[key] / len(qes) / 1e6,
            share=run[key] / capacity if capacity else 0.0,
            on_query_cpus_ms=near[key] / len(qes) / 1e6,
        )
        for key in ranked[:top]
    )


def run_ns(process: ProcessUse, tick_ns: int) -> int:
    if process.run_ns is not None:
        return process.run_ns
    return (process.user_ticks + process.system_ticks) * tick_ns
