"""The source relations of each generation with their attributes, and which of those are keys.

1983 (section 3.1, Figure 1): the paper names eleven integers “and the like”. Its tuples have 182 bytes: three strings
of 52 and, in two bytes each, thirteen integers. The last two are taken for those that PostgreSQL's regression
data, which descend from this generator, call odd and even.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tare.workload.wisconsin.kinds import Generation


class Kind(StrEnum):
    INTEGER = "integer"
    LONG = "long"  # of 64 bits, for sums
    STRING = "string"  # of exactly 52 characters


STRING_LENGTH = 52


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Relation:
    """A source relation. Its tuples are loaded in the order of unique2: 0, 1, 2, …"""

    name: str
    generation: Generation
    attributes: tuple[Attribute, ...]
    share: int = 1  # one of so many tuples of a large relation: 10 for ONEKTUP and Bprime
    fixed: int | None = None  # tuples at any size
    indexed: bool = True  # has the three indexes where the organisation is not a heap
    seed: int = 0  # tells relations with equally many tuples apart (1983)
    first_of: str | None = None  # it holds the first tuples of this relation

    def tuples(self, rows: int) -> int:
        """Return the number of tuples where the large relations have `rows`."""
        return self.fixed if self.fixed is not None else rows // self.share


KEY = "unique2"  # the clustered index's; tuples are loaded in its order
OTHER_KEY = "unique1"  # the non-clustered index's

_INTEGERS = {
    Generation.Y1983: (
        "unique1 unique2 two four ten twenty hundred thousand twothous fivethous tenthous odd100 even100"
    ),
    Generation.Y1993: (
        "unique1 unique2 two four ten twenty onePercent tenPercent twentyPercent fiftyPercent "
        "unique3 evenOnePercent oddOnePercent"
    ),
}
_STRINGS = ("stringu1", "stringu2", "string4")


def attributes(generation: Generation) -> tuple[Attribute, ...]:
    """Return the attributes of every source relation, in their order."""
    integers = (Attribute(name, Kind.INTEGER) for name in _INTEGERS[generation].split())
    return (*integers, *(Attribute(name, Kind.STRING) for name in _STRINGS))


def third(generation: Generation) -> str:
    """The attribute of the third index, a secondary one of 100 values (1983: section 4.5)."""
    return "hundred" if generation is Generation.Y1983 else "onePercent"


def relations(generation: Generation) -> tuple[Relation, ...]:
    """In the order in which they are loaded."""
    return _RELATIONS[generation]


def relation(generation: Generation, name: str) -> Relation:
    """By its name. Raises KeyError."""
    return {one.name: one for one in relations(generation)}[name]


def _of_1983() -> tuple[Relation, ...]:
    year = Generation.Y1983
    basic = {"thoustup": 1_000, "twothoustup": 2_000, "fivethoustup": 5_000}
    return (
        *(Relation(name, year, attributes(year), fixed=tuples) for name, tuples in basic.items()),
        Relation("tenthoustup", year, attributes(year), seed=1),
        Relation("tenthoustup2", year, attributes(year), seed=2),
        Relation(  # Appendix I: what an earlier query retrieved, and so without an index
            "tempbprime", year, attributes(year), share=10, indexed=False, seed=2, first_of="tenthoustup2"
        ),
    )


def _of_1993() -> tuple[Relation, ...]:
    year = Generation.Y1993
    return (
        Relation("onektup", year, attributes(year), share=10),
        Relation("tenktup1", year, attributes(year)),
        Relation("tenktup2", year, attributes(year)),
        Relation("bprime", year, attributes(year), share=10, first_of="tenktup2"),
    )


_RELATIONS = {Generation.Y1983: _of_1983(), Generation.Y1993: _of_1993()}
