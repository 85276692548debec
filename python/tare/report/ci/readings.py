"""Readings of a result that continuous integration follows: per query and side of a comparison, one of each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tare.report.result import ComparisonResult, MeasureResult, QueryResult, RunResult
from tare.report.time.sets import name_of


@dataclass(frozen=True, slots=True)
class Exported:
    """A measure under the name that dashboards keep it by."""

    slug: str
    label: str
    read: Callable[[QueryResult], MeasureResult]


EXPORTED = (
    Exported("cpu", "CPU time", lambda query: query.resources.cpu_ms),
    Exported("instructions", "instructions", lambda query: query.measures.instructions),
    Exported("read-bytes", "bytes read", lambda query: query.resources.read_bytes),
    Exported("latency", "wall time", lambda query: query.measures.wall_ms),
)
"""CPU time comes first: a shared machine disturbs it least. The wall time's slug is Bencher's own."""

BASE_UNITS: Mapping[str, tuple[float, str]] = {"ms": (1e6, "ns")}
"""Factor and unit in which consumers expect a measure; others stay as they are."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The median of a measure that has one. `side`: A or B of a comparison, None without one."""

    query: str
    side: str | None
    exported: Exported
    measure: MeasureResult
    median: float

    @property
    def name(self) -> str:
        """Name of the query with its side."""
        return self.query if self.side is None else f"{self.query} [{self.side}]"

    @property
    def factor(self) -> float:
        return BASE_UNITS.get(self.measure.unit, (1.0, ""))[0]

    @property
    def unit(self) -> str:
        """Unit of `in_base_unit`."""
        return BASE_UNITS.get(self.measure.unit, (1.0, self.measure.unit))[1]

    def in_base_unit(self, value: float) -> float:
        return value * self.factor


def readings(result: RunResult) -> Iterator[Reading]:
    """Readings in the order of the queries. Of a comparison only the sides that are compared, not A's second copy."""
    by_name = {query.name: query for query in result.results}
    pairs = result.pairs
    if pairs:
        for pair in pairs:
            for side, name in (("A", pair.a), ("B", pair.b)):
                yield from _of_query(by_name[name], title(pair), side)
    else:
        for query in result.results:
            yield from _of_query(query, query.name, None)


def title(pair: ComparisonResult) -> str:
    """Name of the query that ran on both sides, or of the two queries."""
    name = name_of(pair)
    return name if pair.b == f"{name} [B]" else f"{pair.b} against {pair.a}"


def _of_query(query: QueryResult, name: str, side: str | None) -> Iterator[Reading]:
    for exported in EXPORTED:
        measure = exported.read(query)
        if measure.median is not None:
            yield Reading(name, side, exported, measure, measure.median)
