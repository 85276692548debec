"""Selections: a range of one attribute, or a single tuple (1983, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.workload.wisconsin.forms.spread import key, low
from tare.workload.wisconsin.naming import Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.results import SELECTION, result

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
