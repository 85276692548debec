"""Answers of the benchmark's aggregates and projections, from the definition of the tuples alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.naming import NAMING
from tare.workload.wisconsin.relations import attributes, relation, third
from tare.workload.wisconsin.results import FEW_VALUES
from tare.workload.wisconsin.rows import tuples

PARTITIONS = 100
_COMBINATIONS = 400  # of u % 100, which settles two, four, ten and twenty, with i % 4


def least_1983(name: str, rows: int) -> Sequence[int]:
    """The minimum of each partition of a large relation."""
    return [min(values) for values in _partitions_1983(name, rows)]


def sums_1983(name: str, rows: int) -> Sequence[int]:
    return [sum(values) for values in _partitions_1983(name, rows)]


@lru_cache
def _partitions_1983(name: str, rows: int) -> tuple[tuple[int, ...], ...]:
    """Its attributes are random: the tuples themselves tell."""
    year = Generation.Y1983
    names = [attribute.name for attribute in attributes(year)]
    by, measured = names.index(third(year)), names.index(NAMING[year].measured)
    found: dict[int, list[int]] = {}
    for one in tuples(relation(year, name), rows):
        found.setdefault(int(one[by]), []).append(int(one[measured]))
    return tuple(tuple(values) for values in found.values())


def least_1993(name: str, rows: int) -> Sequence[int]:
    """unique3 has each number below `rows` once, and its last two digits are onePercent."""
    return range(min(PARTITIONS, rows))


def sums_1993(name: str, rows: int) -> Sequence[int]:
    members = [range(partition, rows, PARTITIONS) for partition in range(min(PARTITIONS, rows))]
    return [len(one) * (one[0] + one[-1]) // 2 for one in members]


@lru_cache
def few_1993(rows: int) -> int:
    """How many combinations of query 18's attributes there are: 400, but fewer in a small relation."""
    year = Generation.Y1993
    names = [attribute.name for attribute in attributes(year)]
    places = [names.index(name) for name in FEW_VALUES[year]]
    found: set[tuple[object, ...]] = set()
    for one in tuples(relation(year, NAMING[year].twins[0]), rows):
        found.add(tuple(one[place] for place in places))
        if len(found) == _COMBINATIONS:
            break
    return len(found)
