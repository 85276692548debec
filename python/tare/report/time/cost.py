"""Words of the first line: the whole cost of a query, and its parts."""

from __future__ import annotations

from tare.measure.records import Relation
from tare.report.kit.figure import Figure
from tare.report.numbers import ms_text, percent
from tare.report.result import MeasureResult, QueryResult

WORKERS_SEEN = 0.01  # of the CPU time: less is what a thread that waits for orders uses


def text(query: QueryResult, clocked: str) -> str:
    """Wall time with its phases, and CPU time with whose it is."""
    wall, cpu = query.measures.wall_ms, whole_cpu(query)
    words = figure(wall).text + _phases(query, clocked)
    if cpu.median is None or not wall.median:
        return words
    if has_workers(query):
        return f"{words} and {figure(cpu).text} of CPU time ({_by_whom(query)})"
    return f"{words}, {figure(cpu).text} of it CPU time ({percent(cpu.median / wall.median)})"


def whole_cpu(query: QueryResult) -> MeasureResult:
    """CPU time of all that worked for the query: the leader's where it worked alone."""
    return query.resources.cpu_ms if has_workers(query) else query.measures.cpu_ms


def has_workers(query: QueryResult) -> bool:
    """Return whether other processes or threads than the leader are known to have worked for the query."""
    workers, cpu = query.resources.workers_cpu_ms, query.resources.cpu_ms
    if workers is None or workers.median is None or not cpu.median:
        return False
    return (query.resources.processes.median or 0) > 1 or workers.median > WORKERS_SEEN * cpu.median


def figure(measure: MeasureResult) -> Figure:
    known = [one for one in measure.samples if one is not None]
    low, high = measure.ci95 or (None, None)
    return Figure(
        measure.median,
        low,
        high,
        n=len(known),
        unit=measure.unit,
        spread=(max(known) - min(known)) / 2 if len(known) > 1 else None,
    )


def _phases(query: QueryResult, clocked: str) -> str:
    if clocked == "execution":
        return " to execute (planning not clocked)"
    if query.phases is None:
        return ""
    planning, execution = query.phases.planning_ms, query.phases.execution_ms
    if planning.median is None or execution.median is None:
        return " with planning"
    return f" (planning {ms_text(planning.median)}, execution {ms_text(execution.median)})"


def _by_whom(query: QueryResult) -> str:
    """The leader's part, and the workers': processes, or threads of the one process."""
    leader, workers = query.resources.leader_cpu_ms, query.resources.workers_cpu_ms
    assert leader is not None
    assert workers is not None
    others = (query.resources.processes.median or 1) - 1
    helped = any(Relation(one.relation).is_sure for one in query.helpers)
    count = _count(others, "other process", "es") if helped else _count(others, "worker", "s")
    count = count if others else "workers (threads)"
    return f"leader {ms_text(leader.median or 0.0)}, {count} {ms_text(workers.median or 0.0)}"


def _count(number: float, noun: str, plural: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else plural}"
