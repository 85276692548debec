"""The relations that take a query's result: made once, and emptied before each QE.

“Into a relation” is an INSERT … SELECT into one of these, on every DBMS: of 1983's `retrieve into` and of
a CREATE TABLE AS SELECT, it is the form that all have and that times no change of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import KEY, OTHER_KEY, Attribute, Kind, attributes, third

SELECTION = "tare_result_{}_selection"
JOIN = "tare_result_{}_join"  # the attributes of two relations
JOIN_OF_THREE = "tare_result_{}_join_of_three"
PROJECTION_1PCT = "tare_result_{}_projection_1pct"
PROJECTION_100PCT = "tare_result_{}_projection_100pct"
AGGREGATE = "tare_result_{}_aggregate"

KEYS = (OTHER_KEY, KEY)

FEW_VALUES: Mapping[Generation, tuple[str, ...]] = {
    Generation.Y1983: (third(Generation.Y1983),),
    Generation.Y1993: ("two", "four", "ten", "twenty", "onePercent", "string4"),
}
"""On what the projection with many duplicates projects."""


def result(form: str, generation: Generation) -> str:
    """The name of a result relation: each generation has its own, so that one database can hold both."""
    return form.format(generation)


def results(generation: Generation) -> Mapping[str, tuple[Attribute, ...]]:
    """All of a generation, by name, with their attributes in order."""
    every = attributes(generation)
    found: dict[str, tuple[Attribute, ...]] = {
        SELECTION: every,
        JOIN: (*_of("a", every), *_of("b", every)),
        PROJECTION_1PCT: tuple(one for one in every if one.name in FEW_VALUES[generation]),
        PROJECTION_100PCT: tuple(one for one in every if one.name not in KEYS),
    }
    if generation is Generation.Y1993:
        found[JOIN_OF_THREE] = (*_of("a", every), *_of("b", every), *_of("c", every))
        found[AGGREGATE] = (Attribute("value", Kind.LONG),)
    return {result(form, generation): its for form, its in found.items()}


def _of(prefix: str, its: Sequence[Attribute]) -> tuple[Attribute, ...]:
    return tuple(Attribute(f"{prefix}_{one.name}", one.kind) for one in its)
