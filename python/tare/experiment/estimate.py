"""Estimate of a generated query's size from its columns, which are independent, uniform integers.

A join of a.x and b.y keeps the share (values that both may hold) / (values of x × values of y) of all
pairs. Its tree has at most four tables, so each connected part of it, which some optimiser may
compute on its way, is estimated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tare.experiment.specification import ColumnSpec, TableSpec


@dataclass(frozen=True, slots=True)
class Join:
    """Correlation name `child` is joined to an earlier one, column to column."""

    parent: int
    parent_column: ColumnSpec
    child: int
    child_column: ColumnSpec


@dataclass(frozen=True, slots=True)
class Filter:
    """column < bound, on one correlation name."""

    name: int  # number of the correlation name
    column: ColumnSpec
    bound: int


def passing_share(table: TableSpec, filter_: Filter) -> float:
    """The share of rows that pass."""
    low, high = table.domain(filter_.column)
    return min(1.0, max(0, filter_.bound - low) / (high - low + 1))


def rows_of(tables: Sequence[TableSpec], filters: Sequence[Filter]) -> list[float]:
    """Rows left of each correlation name, at the largest cardinality."""
    left = [float(table.cardinality) for table in tables]
    for filter_ in filters:
        left[filter_.name] *= passing_share(tables[filter_.name], filter_)
    return left


def match(tables: Sequence[TableSpec], join: Join) -> float:
    """The share of pairs that the join keeps. A column joined to itself keeps each row's pair with itself."""
    low_a, high_a = tables[join.parent].domain(join.parent_column)
    low_b, high_b = tables[join.child].domain(join.child_column)
    common = min(high_a, high_b) - max(low_a, low_b) + 1
    share = max(0, common) / ((high_a - low_a + 1) * (high_b - low_b + 1))
    itself = tables[join.parent] == tables[join.child] and join.parent_column == join.child_column
    return (
        min(1.0, share + 1 / tables[join.child].cardinality) if itself and not unique(tables, join) else share
    )


def fan_out(tables: Sequence[TableSpec], join: Join) -> float:
    """Rows of the joined table that share a value of its column: at least one."""
    if unique(tables, join):
        return 1.0
    low, high = tables[join.child].domain(join.child_column)
    return max(1.0, tables[join.child].cardinality / (high - low + 1))


def unique(tables: Sequence[TableSpec], join: Join) -> bool:
    return join.child_column.name == tables[join.child].primary_key


def size(part: frozenset[int], rows: Sequence[float], matches: Sequence[tuple[Join, float]]) -> float:
    """Rows of the join of these correlation names."""
    product = 1.0
    for name in part:
        product *= rows[name]
    for join, share in matches:
        if join.parent in part and join.child in part:
            product *= share
    return product


def connected(count: int, joins: Sequence[Join]) -> Iterator[frozenset[int]]:
    """Every connected part of the join tree: as many joins as names, less one."""
    for width in range(1, count + 1):
        for names in itertools.combinations(range(count), width):
            part = frozenset(names)
            if sum(join.parent in part and join.child in part for join in joins) == width - 1:
                yield part
