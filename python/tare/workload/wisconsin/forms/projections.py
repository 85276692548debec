"""Projections, their duplicates removed: one that keeps few tuples, and one that keeps all (1983, section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tare.workload.wisconsin.forms.selections import Variants
from tare.workload.wisconsin.naming import VARIANTS, Naming
from tare.workload.wisconsin.query import Variant
from tare.workload.wisconsin.relations import attributes
from tare.workload.wisconsin.results import FEW_VALUES, KEYS, PROJECTION_1PCT, PROJECTION_100PCT, result


def few(naming: Naming, kept: Callable[[int], int]) -> Variants:
    """`kept`: how many tuples are left, of so many."""
    return lambda rows: _distinct(
        naming,
        PROJECTION_1PCT,
        FEW_VALUES[naming.generation],
        (relation for _, relation, _ in naming.turns()),
        kept(rows),
    )


def every(naming: Naming) -> Variants:
    """Project a large relation on all attributes but the keys, of which unique3 and the strings stay unique."""
    return lambda rows: _distinct(
        naming, PROJECTION_100PCT, _but_keys(naming), (relation for _, relation, _ in naming.turns()), rows
    )


def every_of_tenth(naming: Naming) -> Variants:
    """Project the small relation, which has no twin: the paper ran ten copies of one query."""
    return lambda rows: _distinct(
        naming, PROJECTION_100PCT, _but_keys(naming), (naming.tenth for _ in range(VARIANTS)), rows // 10
    )


def _but_keys(naming: Naming) -> tuple[str, ...]:
    return tuple(one.name for one in attributes(naming.generation) if one.name not in KEYS)


def _distinct(
    naming: Naming, form: str, shown: Sequence[str], sources: Iterator[str], kept: int
) -> Sequence[Variant]:
    into = result(form, naming.generation)
    return tuple(
        Variant(f"INSERT INTO {into} SELECT DISTINCT {', '.join(shown)} FROM {source}", kept, into=into)
        for source in sources
    )
