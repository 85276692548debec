"""Interface of a scenario: at which cardinalities a query's plan is looked at, and which of them are timed.

Both answers are pure functions of what was seen so far, so a run that was cut short goes on where it
was. Found by name through the entry-point group `tare.scenario`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """The cardinalities of the variable table: maximum, maximum - step, … down to minimum, in rows."""

    maximum: int
    minimum: int
    step: int

    @property
    def cardinalities(self) -> Sequence[int]:
        return range(self.maximum, self.minimum - 1, -self.step)


@dataclass(frozen=True, slots=True)
class Listed(Range):
    """Cardinalities that were named one by one; the steps between them are not alike."""

    listed: tuple[int, ...]

    @property
    def cardinalities(self) -> Sequence[int]:
        return self.listed


def listed(cardinalities: Iterable[int]) -> Listed:
    """From the largest down, each once."""
    falling = tuple(sorted(set(cardinalities), reverse=True))
    return Listed(falling[0], falling[-1], 1, falling)


@dataclass(frozen=True, slots=True)
class Visit:
    """A cardinality that the walk of a query has reached."""

    cardinality: int
    plan_fingerprint: str
    timed: bool


class Scenario(ABC):
    name: str
    summary: str  # one line, for help and lists

    @abstractmethod
    def next_cardinality(self, cardinalities: Range, visits: Sequence[Visit]) -> int | None:
        """Return the next cardinality of a query's walk; None: it is over. Never one that was visited."""

    @abstractmethod
    def is_timed(self, plan_fingerprint: str, visits: Sequence[Visit]) -> bool:
        """Whether the Q@C just come to, with this plan, is timed; `visits` are those before it."""
