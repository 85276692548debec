"""Who is told how a run goes; never between the clocks."""

from __future__ import annotations

from typing import Protocol

from tare.experiment.walk import QatC, QueryWalk
from tare.measure.records import QE


class Observer(Protocol):
    def say(self, what: str) -> None:
        """Report what is being done, or waited for."""

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        """A QE is durable. `number` is None for a warm-up and for a try that does not count."""

    def visited(self, walk: QueryWalk) -> None:
        """The last visit of this walk is over: timed, not to be timed, or failed; or the query is missing."""
