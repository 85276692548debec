"""How far each query's walk over the cardinalities has come, and what is next. Pure: no DBMS, no lab.

The walk is made again from what the lab holds, so a run that was cut short goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tare.experiment.scenario.base import Range, Scenario, Visit
from tare.lab.states import QatCState
from tare.measure.records import QE

Answer = tuple[int | None, str | None]
"""Row count and hash."""


@dataclass(slots=True)
class QatC:
    """A visit of a query's walk: a Q@C, with its QEs so far."""

    id: int
    visit: int
    cardinality: int
    plan_fingerprint: str
    state: QatCState
    attempt: int = 1
    done: set[int] = field(default_factory=set)  # numbers of the last attempt's QEs
    answer: Answer | None = None  # that all of them must give; None: no QE has ended well

    @property
    def timed(self) -> bool:
        """In the scenario's sense: also where its QEs are not complete, or failed."""
        return self.state is not QatCState.SAME_PLAN

    def next_number(self, qes: int) -> int | None:
        """The least number from 1 to `qes` that has no QE; None if the Q@C is complete."""
        return next((number for number in range(1, qes + 1) if number not in self.done), None)


@dataclass(slots=True)
class QueryWalk:
    """A query of a run. `error`: reason for which it is missing on this DBMS."""

    id: int
    number: int
    name: str
    sql: str
    error: str | None = None
    visits: list[QatC] = field(default_factory=list)

    @property
    def pending(self) -> QatC | None:
        """The Q@C in hand: only the last one can be."""
        last = self.visits[-1] if self.visits else None
        return last if last is not None and last.state is QatCState.PENDING else None

    @property
    def has_worked(self) -> bool:
        """Whether a QE of it has ever ended on this DBMS: then a failure is the server's, not the query's."""
        return any(visit.state is QatCState.TIMED or visit.done for visit in self.visits)

    def seen(self) -> list[Visit]:
        return [Visit(v.cardinality, v.plan_fingerprint, v.timed) for v in self.visits]

    def next_cardinality(self, scenario: Scenario, cardinalities: Range) -> int | None:
        """None: its walk is over, or it is missing."""
        if self.error is not None:
            return None
        if self.pending is not None:
            return self.pending.cardinality
        return scenario.next_cardinality(cardinalities, self.seen())


@dataclass(frozen=True, slots=True)
class Halt:
    """A cardinality and a setting of the tables, and the queries whose walks stand before it."""

    cardinality: int
    setting: str
    queries: tuple[QueryWalk, ...]


def next_halt(
    walks: Iterable[QueryWalk],
    scenario: Scenario,
    cardinalities: Range,
    setting_of: Callable[[str], str] = lambda query: "",
) -> Halt | None:
    """The largest cardinality that any walk goes to next, in the setting of the first that does, with all
    that go there: the tables are made once for them. None: the run is complete."""
    nexts = [(walk.next_cardinality(scenario, cardinalities), walk) for walk in walks]
    largest = max((cardinality for cardinality, _ in nexts if cardinality is not None), default=None)
    if largest is None:
        return None
    there = [walk for cardinality, walk in nexts if cardinality == largest]
    setting = setting_of(there[0].name)
    return Halt(largest, setting, tuple(walk for walk in there if setting_of(walk.name) == setting))


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a run has come. `planned` is what the scenario may visit at most."""

    planned: int
    visited: int  # of them looked at, with all that this asked for
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


class Observer(Protocol):
    """Receives how a run goes. Never called while a clock is running."""

    def say(self, what: str) -> None:
        """Report what is being done, or waited for."""

    def recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE, qe_id: int) -> None:
        """A QE is durable. `number` is None for a warm-up and for a try that does not count."""

    def visited(self, walk: QueryWalk) -> None:
        """The last visit of this walk is over: timed, not to be timed, or failed; or the query is missing."""
