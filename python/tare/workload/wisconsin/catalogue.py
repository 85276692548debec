"""Every query of either generation, by name and by class."""

from __future__ import annotations

from tare.workload.wisconsin import queries_1983, queries_1993
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.query import Class, WisconsinQuery
from tare.workload.wisconsin.specification import WisconsinSpec

_QUERIES = {Generation.Y1983: queries_1983.QUERIES, Generation.Y1993: queries_1993.QUERIES}


def catalogue(generation: Generation) -> tuple[WisconsinQuery, ...]:
    """In the order of the papers."""
    return _QUERIES[generation]


def names(generation: Generation) -> list[str]:
    """Return the names that a specification may request: classes first, then queries."""
    return [*Class, *(query.name for query in catalogue(generation))]


def find(generation: Generation, name: str) -> WisconsinQuery:
    """Raises KeyError."""
    return {query.name: query for query in catalogue(generation)}[name]


def chosen(spec: WisconsinSpec) -> tuple[WisconsinQuery, ...]:
    """Return the queries that a specification requests; none where none of them has an organisation that it names."""
    return tuple(
        query
        for query in catalogue(spec.generation)
        if query.organisation in spec.organisations
        and (not spec.queries or query.name in spec.queries or query.klass in spec.queries)
    )
