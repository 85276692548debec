"""Medians of parts against the median of their whole.

The parts of an execution add up to its whole exactly. Their medians need not: each may come from another execution. The
report keeps medians, which a single disturbed execution does not move and whose intervals need no distribution, and
states by how much their sum differs from the whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from tare.protocol import measures
from tare.report.numbers import percent
from tare.report.result import MeasureResult, QueryResult
from tare.report.time.cost import has_workers

SEEN = 0.01  # of the whole


def elapsed_parts(query: QueryResult) -> list[tuple[str, MeasureResult]]:
    """Return the parts of the wall time with their labels, the residue last."""
    parts: list[tuple[str, MeasureResult]] = []
    for part in (*measures.PARTS, measures.RESIDUE):
        measure: MeasureResult | None = getattr(query.measures, part.name)
        if measure is not None:
            parts.append((part.label, measure))
    return parts


def apart(query: QueryResult) -> str | None:
    """Return a sentence on medians that sum to more or less than the median of their whole; None if none does by more
    than 1%."""
    found = [
        f"{percent(abs(gap))} {'more' if gap > 0 else 'less'} than the median {whole}"
        for whole, gap in gaps(query)
        if abs(gap) > SEEN
    ]
    return f"each run's parts add up; their medians sum to {', '.join(found)}" if found else None


def gaps(query: QueryResult) -> Iterator[tuple[str, float]]:
    """Yield the name of each whole and by how much the sum of its parts' medians exceeds its median, relative to it.

    A whole of which a part was not measured is left out, unless the others exceed it already."""
    wall, cpu = query.measures.wall_ms, query.resources.cpu_ms
    wholes: list[tuple[str, MeasureResult, list[MeasureResult | None]]] = [
        ("wall", wall, [measure for _, measure in elapsed_parts(query)])
    ]
    phases = query.phases
    if phases is not None:
        wholes.append(("wall (planning, execution)", wall, [phases.planning_ms, phases.execution_ms]))
    if has_workers(query):
        leader, workers = query.resources.leader_cpu_ms, query.resources.workers_cpu_ms
        wholes.append(("CPU (leader, workers)", cpu, [leader, workers]))
    if phases is not None:
        split = [phases.planning_cpu_ms, phases.execution_cpu_ms]
        wholes.append(("CPU (planning, execution)", cpu, [*split]))
    for name, whole, parts in wholes:
        medians = [part.median for part in parts if part is not None and part.median is not None]
        if not whole.median:
            continue
        gap = sum(medians) / whole.median - 1
        if len(medians) == len(parts) or gap > 0:
            yield name, gap
