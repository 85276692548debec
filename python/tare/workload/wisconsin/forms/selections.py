"""Selections: a range of one attribute, or a single tuple (1983, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.workload.wisconsin.naming import VARIANTS, Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.results import SELECTION, result

DEFINED_FOR = 10_000
"""The size that the papers give their constants for; at another they move in proportion."""

# The ten variants of a query must be one query to every DBMS, with one plan. So a range at the relation's edge stays
# there in all: a DBMS that knows a column's least value drops the bound that excludes nothing, and has another plan for
# it than for a range in the middle.


def low(rows: int, width: int, first: int, turn: int) -> int:
    """The least key of a range of `width` keys: `first` in the first variant, further on in each."""
    start = min(scaled(rows, first), rows - width)
    return start + turn * (rows - width - start) // VARIANTS if start else 0


def key(rows: int, first: int, turn: int) -> int:
    """Return a key: `first` in the first variant, a tenth of the relation further in each."""
    return (scaled(rows, first) + turn * rows // VARIANTS) % rows


def scaled(rows: int, constant: int) -> int:
    return constant * rows // DEFINED_FOR


Variants = Callable[[int], Sequence[Variant]]


def of_percent(naming: Naming, attribute: str, percent: int, *, first: int, screen: bool = False) -> Variants:
    """`first`: where the first variant's range begins, at 10,000 tuples."""

    def variants(rows: int) -> Iterator[Variant]:
        width = rows * percent // 100
        for turn, relation, _ in naming.turns():
            least = low(rows, width, first, turn)
            sql = f"SELECT * FROM {relation} WHERE {attribute} BETWEEN {least} AND {least + width - 1}"
            if screen:
                yield Variant(sql, width)
            else:
                into = result(SELECTION, naming.generation)
                yield Variant(f"INSERT INTO {into} {sql}", width, into=into)

    return lambda rows: tuple(variants(rows))


def of_one(naming: Naming, attribute: str, *, first: int) -> Variants:
    """To the screen, in both generations."""
    return lambda rows: tuple(
        Variant(f"SELECT * FROM {relation} WHERE {attribute} = {key(rows, first, turn)}", 1)
        for turn, relation, _ in naming.turns()
    )
