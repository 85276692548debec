"""A relation of the benchmark: its name, its attributes, and how many tuples it has at each size."""

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
