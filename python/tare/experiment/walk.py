"""Walk of each query over the cardinalities: its visits so far, and the next. Pure: no DBMS, no lab.

The walk is rebuilt from what the lab holds, so a run that was cut short continues where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tare.experiment.scenario.base import Range, Scenario, Visit
from tare.lab.states import QatCState
from tare.measure.records import QE, QatCProgress

if TYPE_CHECKING:
    from tare.lab.progress import Progress


@dataclass(slots=True)
class QatC(QatCProgress):
    """Visit of a query's walk: a Q@C in the lab, with its progress."""

    id: int
    visit: int
    cardinality: int
    state: QatCState
    plan_fingerprint: str = field(kw_only=True)  # known from the visit's beginning

    @property
    def timed(self) -> bool:
        """Whether the scenario times it: also where its QEs are not complete, or failed."""
        return self.state is not QatCState.SAME_PLAN


@dataclass(slots=True)
class QueryWalk:
    """Query of a run. `error`: why it is missing on this DBMS."""

    id: int
    number: int
    name: str
    sql: str
    error: str | None = None
    visits: list[QatC] = field(default_factory=list)

    @property
    def pending(self) -> QatC | None:
        """The Q@C being timed: only the last can be."""
        last = self.visits[-1] if self.visits else None
        return last if last is not None and last.state is QatCState.PENDING else None

    @property
    def has_worked(self) -> bool:
        """Whether a QE of it has ever ended on this DBMS: then a failure is the server's, not the query's."""
        return any(visit.state is QatCState.TIMED or visit.done for visit in self.visits)

    def seen(self) -> list[Visit]:
        return [Visit(v.cardinality, v.plan_fingerprint, v.timed) for v in self.visits]

    def next_cardinality(self, scenario: Scenario, cardinalities: Range) -> int | None:
        """Next cardinality of the walk; None: the walk is over, or the query is missing."""
        if self.error is not None:
            return None
        if self.pending is not None:
            return self.pending.cardinality
        return scenario.next_cardinality(cardinalities, self.seen())


def walks_of(progress: Progress) -> list[QueryWalk]:
    """Walks of a run as the lab holds them, for an executor to continue."""
    return [
        QueryWalk(
            query.id,
            query.number,
            query.name,
            query.sql,
            query.error,
            [
                QatC(
                    visit.qatc_id,
                    visit.visit,
                    visit.cardinality,
                    visit.state,
                    plan_fingerprint=visit.plan_fingerprint,
                    attempt=visit.attempt,
                    done=set(visit.done),
                    answer=visit.answer,
                )
                for visit in query.visits
            ],
        )
        for query in progress.queries
    ]


class Observer(Protocol):
    """Receives a run's progress; never called while a clock is running."""

    def say(self, what: str) -> None:
        """Report what the run does or waits for."""

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        """A QE is durable. `number` is None for a warm-up and for a try that does not count."""

    def visited(self, walk: QueryWalk) -> None:
        """The last visit of this walk is over: timed, not to be timed, or failed; or the query is missing."""


@dataclass(frozen=True, slots=True)
class Halt:
    """Cardinality and setting of the tables, and the queries whose walks come to them next."""

    cardinality: int
    setting: str
    queries: tuple[QueryWalk, ...]


def next_halt(
    walks: Iterable[QueryWalk],
    scenario: Scenario,
    cardinalities: Range,
    setting_of: Callable[[str], str] = lambda query: "",
) -> Halt | None:
    """Return the largest cardinality that any walk visits next, in the setting of the first that does, with
    all walks that visit it: the tables are made once for them. None: the run is complete."""
    nexts = [(walk.next_cardinality(scenario, cardinalities), walk) for walk in walks]
    largest = max((cardinality for cardinality, _ in nexts if cardinality is not None), default=None)
    if largest is None:
        return None
    there = [walk for cardinality, walk in nexts if cardinality == largest]
    setting = setting_of(there[0].name)
    return Halt(largest, setting, tuple(walk for walk in there if setting_of(walk.name) == setting))


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a run's progress. `planned`: Q@Cs that the scenario may visit at most."""

    planned: int
    visited: int  # looked at, and timed where the scenario times them
    timed: int
    same_plan: int
    failed: int
    qes: int  # of the last attempts
    missing: tuple[str, ...]  # queries that cannot be run on this DBMS


def tally(walks: Sequence[QueryWalk], cardinalities: Range) -> Tally:
    states = [visit.state for walk in walks for visit in walk.visits]
    able = sum(walk.error is None for walk in walks)
    lost = sum(len(walk.visits) for walk in walks if walk.error is not None)
    return Tally(
        planned=able * len(cardinalities.cardinalities) + lost,
        visited=len(states) - states.count(QatCState.PENDING),
        timed=states.count(QatCState.TIMED),
        same_plan=states.count(QatCState.SAME_PLAN),
        failed=states.count(QatCState.FAILED),
        qes=sum(len(visit.done) for walk in walks for visit in walk.visits),
        missing=tuple(walk.name for walk in walks if walk.error is not None),
    )
