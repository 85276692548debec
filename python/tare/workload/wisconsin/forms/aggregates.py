"""The minimum of a key, and minimum and sum over 100 partitions (1983, section 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.workload.wisconsin.forms.selections import Variants
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.naming import Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.relations import third
from tare.workload.wisconsin.results import AGGREGATE, result


def least_key(naming: Naming) -> Variants:
    """0 by definition."""
    return lambda rows: tuple(
        _aggregate(naming, f"SELECT MIN(unique2) FROM {relation}", [0]) for _, relation, _ in naming.turns()
    )


def by_partition(naming: Naming, function: str, defined: Callable[[str, int], Sequence[int]]) -> Variants:
    """`defined` tells the value of each partition, for a relation where the large ones have so many tuples."""

    def variants(rows: int) -> Iterator[Variant]:
        for _, relation, _ in naming.turns():
            yield _aggregate(
                naming,
                f"SELECT {function}({naming.measured}) FROM {relation} GROUP BY {third(naming.generation)}",
                defined(relation, rows),
            )

    return lambda rows: tuple(variants(rows))


def _aggregate(naming: Naming, sql: str, values: Sequence[int]) -> Variant:
    """1983's go to the screen, as the paper's own examples of them (section 3.1); 1993's into a relation."""
    defined = [(value,) for value in values]
    if naming.generation is Generation.Y1983:
        return Variant(sql, len(values), defined=defined)
    into = result(AGGREGATE, naming.generation)
    return Variant(f"INSERT INTO {into} {sql}", len(values), into=into, defined=defined)
