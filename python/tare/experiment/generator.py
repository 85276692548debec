"""Generated queries: select-project-join with aggregates, over one to four correlation names (TTPv2 §3.4).

Seeded, and a longer query set begins with the shorter one. Every adapter's DBMS accepts the
SQL and gives the same answer: integers throughout; only counts, sums, least and greatest values; no
LIMIT. The answer is one row, since a result that takes long to send would be weighed with the query
(the rows proper stand in a subquery, each column of which is looked at).

A draw that could explode is discarded: `_is_bearable` has the bounds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tare.errors import UsageError
from tare.experiment import estimate
from tare.experiment.estimate import Filter, Join
from tare.experiment.specification import ColumnSpec, GenerateSpec, Specification, TableSpec
from tare.measure.query import Query

_T = TypeVar("_T")

GROWTH = 2.0  # a join may have so many times the rows of the experiment's largest table
FAN_OUT = 10.0  # rows joined to one row: else a few rows more or less, by chance, make all the difference
LEAST_ROWS = 10.0  # estimated, of the subquery: an empty answer checks nothing
_SUM_MOST = 2.0**62
_TRIES = 2_000  # until a shape is bearable
_RETRIES = 20  # until a query is not one of those before

_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.9)
_AGGREGATES = ("sum", "min", "max")


def queries_of(specification: Specification) -> tuple[Query, ...]:
    """Return the experiment's query set: its own queries, then the generated ones."""
    own = tuple(Query(query.name, query.sql) for query in specification.queries)
    spec = specification.generate
    return own + (generate(spec, specification.tables) if spec else ())


def generate(spec: GenerateSpec, tables: Sequence[TableSpec]) -> tuple[Query, ...]:
    """Generate queries g1, g2, … Raises UsageError where the tables leave no room for such queries."""
    queries: dict[str, Query] = {}
    while len(queries) < spec.count:
        number = len(queries) + 1
        for attempt in range(_RETRIES):
            sql = _query(spec, tables, f"{spec.seed}/{number}/{attempt}")
            if sql not in queries:
                break
        else:
            raise UsageError(
                f"these tables leave room for {len(queries)} or so different queries, not for {spec.count}",
                "generate fewer, or give the tables more columns or rows",
            )
        queries[sql] = Query(f"g{number}", sql)
    return tuple(queries.values())


class _Draw:
    """`random.Random.random` alone is promised to stay as it is from one Python to the next."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        return int(self._random.random() * count)

    def choice(self, choices: Sequence[_T]) -> _T:
        return choices[self.below(len(choices))]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


@dataclass(frozen=True, slots=True)
class _Shape:
    """FROM and WHERE of a query."""

    tables: tuple[TableSpec, ...]  # those called t0, t1, …
    joins: tuple[Join, ...]
    filters: tuple[Filter, ...]


def _query(spec: GenerateSpec, tables: Sequence[TableSpec], seed: str) -> str:
    draw = _Draw(f"tare-query/{seed}")
    names = 1 + draw.below(spec.correlation_names)
    largest = max(table.cardinality for table in tables)
    for attempt in range(_TRIES):
        # The number of names is kept as long as there is hope: else four would be rare.
        if attempt and attempt % (_TRIES // 4) == 0 and names > 1:
            names -= 1
        shape = _shape(draw, tables, names)
        if _is_bearable(shape, largest, spec.pairs):
            return _text(draw, shape, spec.aggregates)
    raise UsageError(
        f"no query could be generated for these tables (seed {seed})",
        "give the tables at least ten rows, and columns with many values (leave out low and high)",
    )


def _shape(draw: _Draw, tables: Sequence[TableSpec], names: int) -> _Shape:
    """At least one correlation name is the variable table, whose cardinality the experiment is about."""
    variable = [table for table in tables if table.variable] or list(tables)
    chosen = [draw.choice(variable)] + [draw.choice(tables) for _ in range(names - 1)]
    place = draw.below(names)
    chosen[0], chosen[place] = chosen[place], chosen[0]
    joins = []
    for child in range(1, names):
        parent = draw.below(child)
        joins.append(Join(parent, draw.choice(chosen[parent].columns), child, _joined(draw, chosen[child])))
    filters = []
    for name, table in enumerate(chosen):
        if draw.chance(0.5):
            column = draw.choice(table.columns)
            low, high = table.domain(column)
            filters.append(Filter(name, column, low + max(1, int((high - low + 1) * draw.choice(_SHARES)))))
    return _Shape(tuple(chosen), tuple(joins), tuple(filters))


def _joined(draw: _Draw, table: TableSpec) -> ColumnSpec:
    """Draw a column to join by: often the primary key, where there is one, as people join."""
    key = next((column for column in table.columns if column.name == table.primary_key), None)
    return key if key is not None and draw.chance(0.6) else draw.choice(table.columns)


def _is_bearable(shape: _Shape, largest: int, pairs: int) -> bool:
    """No connected part of the join is much larger than the largest table, the whole is not empty,
    no sum leaves 64 bits, and taken in the order of FROM each table is reached by its primary key or
    by comparing a bounded number of pairs: by default, MariaDB has nothing better than a nested loop."""
    ends = {
        (join.parent, join.parent_column, shape.tables[join.child], join.child_column) for join in shape.joins
    }
    if len(ends) < len(shape.joins):  # twice the same values: the second join is not independent of the first
        return False
    if any(estimate.fan_out(shape.tables, join) > FAN_OUT for join in shape.joins):
        return False
    rows = estimate.rows_of(shape.tables, shape.filters)
    matches = [(join, estimate.match(shape.tables, join)) for join in shape.joins]
    most = GROWTH * largest
    if any(
        estimate.size(part, rows, matches) > most
        for part in estimate.connected(len(shape.tables), shape.joins)
    ):
        return False
    whole = estimate.size(frozenset(range(len(shape.tables))), rows, matches)
    values = max(
        abs(end) for table in shape.tables for column in table.columns for end in table.domain(column)
    )
    if whole < LEAST_ROWS or most * values > _SUM_MOST:
        return False
    for join, _ in matches:
        before = estimate.size(frozenset(range(join.child)), rows, matches)
        compared = before * shape.tables[join.child].cardinality
        if compared > pairs and not estimate.unique(shape.tables, join):
            return False
    return True


def _text(draw: _Draw, shape: _Shape, aggregates: bool) -> str:
    source = ", ".join(f"{table.name} t{name}" for name, table in enumerate(shape.tables))
    conditions = [
        f"t{join.parent}.{join.parent_column.name} = t{join.child}.{join.child_column.name}"
        for join in shape.joins
    ] + [f"t{filter_.name}.{filter_.column.name} < {filter_.bound}" for filter_ in shape.filters]
    rest = f"FROM {source}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    columns = [
        f"t{name}.{column.name}" for name, table in enumerate(shape.tables) for column in table.columns
    ]
    kind = draw.below(3) if aggregates else 0
    if kind == 1:  # aggregates over all rows
        drawn = dict.fromkeys(_aggregate(draw, columns) for _ in range(1 + draw.below(3)))
        parts = ["count(*) AS a0"] + [
            f"{aggregate} AS a{number}" for number, aggregate in enumerate(drawn, 1)
        ]
        return f"SELECT {', '.join(parts)} {rest}"
    keys = [draw.choice(columns) for _ in range(1 + draw.below(2))]
    if len(set(keys)) < len(keys):
        keys = keys[:1]
    shown = [f"{key} AS c{number}" for number, key in enumerate(keys)]
    group = ""
    if kind == 2:
        shown.append(f"{_aggregate(draw, columns)} AS c{len(keys)}")
        group = f" GROUP BY {', '.join(keys)}"
    looked_at = ", ".join(f"min(c{i}) AS low{i}, max(c{i}) AS high{i}" for i in range(len(shown)))
    return f"SELECT count(*) AS n, {looked_at} FROM (SELECT {', '.join(shown)} {rest}{group}) q"


def _aggregate(draw: _Draw, columns: Sequence[str]) -> str:
    return f"{draw.choice(_AGGREGATES)}({draw.choice(columns)})"
