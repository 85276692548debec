"""CPU time of processes that may have worked for A or B, and whether it could turn the verdict over.

What a query makes others do grows with its runs; what neighbours do goes on beside both. Others are expected to keep
the pace that they have beside the query that costs more. What they use beyond it, beside the one that costs less, may
be its own: a verdict on CPU time must hold with that added, too.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Role
from tare.dbms.known import server_of, serves_client
from tare.measure.records import QE, ProcessUse, Relation
from tare.protocol.compare import Comparison, compare
from tare.protocol.measures import CPU_OF_ALL

MOST_NAMES = 2


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Medians in ms. `by`: names of the processes, those that used most first."""

    beside_a_ms: float
    beside_b_ms: float
    by: tuple[str, ...]
    with_them: Comparison  # of the CPU time of all processes, and what others used beyond their pace
    overturns: bool  # with them the verdict is another


def elsewhere(a: Sequence[QE], b: Sequence[QE], verdict: Comparison, margin: float = 0.0) -> Elsewhere | None:
    """Return what a verdict on the CPU time of all processes leaves out; None if it is less than the 99% interval.

    `a` and `b`: the timed QEs of both queries, in run order, whose CPU time is known. `margin`: of the verdict."""
    if verdict.greater is None:
        return None
    dear, cheap = (b, a) if verdict.greater == "B" else (a, b)
    pace = statistics.median(_others_ns(qe) / _span_ns(qe) for qe in dear)
    beyond = [[(_others_ns(qe) - pace * _span_ns(qe)) / 1e6 for qe in side] for side in (a, b)]
    gap = compare(*beyond)
    if gap.greater is None or gap.greater == verdict.greater:
        return None
    totals = [
        [(CPU_OF_ALL.read(qe) or 0.0) + more for qe, more in zip(side, extra, strict=True)]
        for side, extra in zip((a, b), beyond, strict=True)
    ]
    with_them = compare(*totals, margin=margin)
    overturns = with_them.greater != verdict.greater
    if not overturns and _within(with_them, verdict):
        return None
    beside_a, beside_b = (statistics.median(_others_ns(qe) / 1e6 for qe in side) for side in (a, b))
    return Elsewhere(beside_a, beside_b, _names(cheap), with_them, overturns)


def _within(one: Comparison, other: Comparison) -> bool:
    interval = other.difference.ci99
    return interval is not None and interval.low <= one.difference.estimate <= interval.high


def _others(qe: QE) -> list[ProcessUse]:
    """Processes that may have worked for the query, and the server's own: I/O workers and the like.

    A backend that serves somebody else's client is a neighbour. Whose client it serves is not known behind a server
    that serves the query and others, such as a pooler, or to a user that may not look."""
    known = {process.relation for process in qe.processes}
    hidden = bool(known & {Relation.SHARED_SERVER, Relation.HIDDEN})
    return [process for process in qe.processes if _may_help(process, hidden)]


def _may_help(process: ProcessUse, hidden: bool) -> bool:
    if process.role is Role.QUERY or process.relation is not None:
        return process.role is not Role.QUERY
    is_server = process.role is Role.UTILITY or (
        process.role is Role.DAEMON and not process.kernel and server_of(process.comm) is not None
    )
    if hidden:
        return is_server
    return process.role is Role.UTILITY and not serves_client(process.cmdline)


def _others_ns(qe: QE) -> int:
    return sum(p.run_ns or 0 for p in _others(qe))


def _span_ns(qe: QE) -> int:
    """Time in which processes were weighed, at least 1 ns: the snapshots enclose the clocks."""
    if qe.raw is not None:
        return max(1, qe.raw.snapshot_2[1] - qe.raw.snapshot_1[0])
    return max(1, qe.elapsed.wall_ns if qe.elapsed else 1)


def _names(qes: Sequence[QE]) -> tuple[str, ...]:
    used: Counter[str] = Counter()
    for qe in qes:
        for process in _others(qe):
            used[process.comm] += process.run_ns or 0
    return tuple(name for name, run_ns in used.most_common(MOST_NAMES) if run_ns)
