"""Status of a run, as another process reads it from the lab."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from tare.experiment.scenario.base import Range
from tare.experiment.walk import Tally, tally, walks_of
from tare.lab.hold import is_held
from tare.lab.progress import Progress, RunFacts
from tare.lab.schema import qe
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab

_PAUSE_S = 60.0
_PAUSE_TIMES = 20.0  # the median gap between two QEs: a longer one, above a minute, was a pause


@dataclass(frozen=True, slots=True)
class Failure:
    query: str
    cardinality: int
    why: str


@dataclass(frozen=True, slots=True)
class RunStatus:
    run: RunFacts
    is_held: bool  # by a living executor
    tally: Tally
    failures: tuple[Failure, ...]
    missing: tuple[tuple[str, str], ...]  # query and why
    working_s: float  # from the first QE to the last, pauses left out
    eta_s: float | None  # None before the first visit is over, and when the run is done

    @property
    def silent_s(self) -> float | None:
        """Since the last sign of life."""
        return seconds_since(self.run.heartbeat_at)

    @property
    def shown_state(self) -> str:
        return shown_state(self.run.state, self.is_held)


def shown_state(state: RunState, is_held: bool) -> str:
    """Return the state to show: "stopped" for a run that is recorded as running and has no holder."""
    return "stopped" if state is RunState.RUNNING and not is_held else state.value


def seconds_since(instant: str | None) -> float | None:
    if instant is None:
        return None
    return (datetime.now(UTC) - datetime.fromisoformat(instant)).total_seconds()


def status(lab: Lab, at: Progress, cardinalities: Range) -> RunStatus:
    """Raises LabError."""
    walks = walks_of(at)
    counted = tally(walks, cardinalities)
    with lab.reading() as connection:
        begun = connection.execute(
            select(qe.c.started_at).where(qe.c.run_id == at.run.id).order_by(qe.c.run_order)
        ).scalars()
        working_s = working_seconds(list(begun))
    left = counted.planned - counted.visited
    over = at.run.state is RunState.DONE or not counted.visited
    return RunStatus(
        run=at.run,
        is_held=is_held(lab, at.run.id),
        tally=counted,
        failures=tuple(
            Failure(query.name, visit.cardinality, visit.said or "")
            for query in at.queries
            for visit in query.visits
            if visit.state is QatCState.FAILED
        ),
        missing=tuple((query.name, query.error) for query in at.queries if query.error is not None),
        working_s=working_s,
        eta_s=None if over else working_s * left / counted.visited,
    )


def working_seconds(begun: Sequence[str]) -> float:
    """Between instants in order, without the gaps that were pauses."""
    instants = [datetime.fromisoformat(text).timestamp() for text in begun]
    gaps = [max(0.0, later - earlier) for earlier, later in itertools.pairwise(instants)]
    if not gaps:
        return 0.0
    longest = max(_PAUSE_S, _PAUSE_TIMES * statistics.median(gaps))
    return sum(gap for gap in gaps if gap <= longest)
