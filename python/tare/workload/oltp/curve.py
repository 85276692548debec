"""Latency over requested rate: which step comes next, and the loop that takes the steps.

Each step is one open-loop run with warm-up and drain of its own. Steps at one rate are spread over the curve, so that
tables that grow and a machine that changes do not fall on one rate.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tare.errors import ConnectionFailed, TareError, UsageError
from tare.interruption import Interrupted
from tare.protocol.oltp.capacity import is_overloaded
from tare.protocol.oltp.limit import Ended, Limit, Side, ended, next_place
from tare.workload.oltp.conditions import Hear
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Phase, Request, Run
from tare.workload.oltp.run import CurveStep, OltpRun
from tare.workload.oltp.told import Second, Told

FAILURES = 2
"""Steps in a row that fail without a result before an arm is left out."""

RETRY_S = 3.0
"""Time for a server to come back after a step without a result."""

_SIGNALLED = 128  # exit codes above it name a signal


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was taken. `run`: None where it ended without a result, and `failure` says why."""

    arm: int
    rate: float
    run: OltpRun | None
    failure: str = ""


class Plan(Protocol):
    """Source of the next step."""

    def next(self, taken: Sequence[Step], arms: Sequence[int]) -> tuple[int, float] | None:
        """Arm and rate of the next step, of these arms; None: the curve is finished."""


@dataclass(frozen=True)
class Grid:
    """Every rate on every arm, `repeats` times. Two repeats are a random order and its mirror image."""

    rates: Sequence[float]
    arms: int
    repeats: int
    seed: str  # of the order

    def order(self) -> list[tuple[int, float]]:
        """All steps in their order. Arms alternate: at each rate they follow one another, in turned order in the mirror
        image."""
        chance = random.Random(self.seed)
        steps: list[tuple[int, float]] = []
        block: list[tuple[int, float]] = []
        for repeat in range(self.repeats):
            if repeat % 2:
                block = block[::-1]
            else:
                rates = chance.sample(self.rates, len(self.rates))
                block = [(arm, rate) for rate in rates for arm in chance.sample(range(self.arms), self.arms)]
            steps += block
        return steps

    def next(self, taken: Sequence[Step], arms: Sequence[int]) -> tuple[int, float] | None:
        left = Counter((step.arm, step.rate) for step in taken)
        for slot in self.order():
            if left[slot]:
                left[slot] -= 1
            elif slot[0] in arms:
                return slot
        return None


@dataclass(frozen=True)
class Search:
    """Bracketing search for the highest rate within a budget, on each arm; the arms take turns."""

    rates: Sequence[float]  # candidates, rising
    limit: Limit
    start: int

    def sides(self, taken: Sequence[Step], arm: int) -> dict[int, list[Side]]:
        """Verdicts of an arm's steps, by the place of their rate. A step without a result decides nothing."""
        places = {rate: place for place, rate in enumerate(self.rates)}
        runs: dict[int, list[OltpRun]] = {}
        failed: Counter[int] = Counter()
        for step in taken:
            if step.arm == arm and step.rate in places:
                runs.setdefault(places[step.rate], []).extend([] if step.run is None else [step.run])
                failed[places[step.rate]] += step.run is None
        return {
            place: self.limit.votes(found) + [Side.UNDECIDED] * failed[place] for place, found in runs.items()
        }

    def ended(self, taken: Sequence[Step], arm: int) -> Ended:
        return ended(self.rates, self.sides(taken, arm), self.start)

    def next(self, taken: Sequence[Step], arms: Sequence[int]) -> tuple[int, float] | None:
        counts = Counter(step.arm for step in taken)
        for arm in sorted(arms, key=lambda arm: (counts[arm], arm)):
            place = next_place(self.rates, self.sides(taken, arm), self.start)
            if place is not None:
                return arm, self.rates[place]
        return None


class Curve:
    """Takes the steps of a curve."""

    def __init__(
        self, uuid: str, plan: Plan, requests: Sequence[Request], limit: Limit | None, most_s: float | None
    ) -> None:
        """`requests`: a run for each arm, whose phases are replaced by those of each step; `most_s`: no step begins
        that would probably end later."""
        self.uuid = uuid
        self._plan = plan
        self._requests = requests
        self._limit = limit
        self._most_s = most_s
        self.stopped_by: Interrupted | None = None
        self.out_of_time = False

    def steps(
        self, taken: Sequence[Step], listener: Callable[[int, float, int], Hear], numbers: int
    ) -> Iterator[Step]:
        """Take the steps that are left after `taken`, of which the lab has the first `numbers`. `listener`: receives
        arm, rate and number of a step before it begins, and gives what hears its events.

        A step that the server does not survive is yielded without its run. An interrupt ends the curve; the step in
        hand is left out."""
        taken = list(taken)
        began = time.monotonic()
        failed: Counter[int] = Counter()
        while slot := self._plan.next(
            taken, [arm for arm in range(len(self._requests)) if failed[arm] < FAILURES]
        ):
            arm, rate = slot
            if self._most_s is not None and time.monotonic() - began + self._step_s(arm) > self._most_s:
                self.out_of_time = True
                return
            numbers += 1
            limit = self._limit
            budget = (None, None) if limit is None else (limit.figure, limit.ms)
            mark = CurveStep(self.uuid, numbers, arm, *budget)
            try:
                step = self._take(arm, rate, mark, listener(arm, rate, numbers))
            except (UsageError, ConnectionFailed) as error:
                if not any(one.arm == arm for one in taken):  # nothing has worked there yet
                    raise
                step = Step(arm, rate, None, str(error))
            if step is None:
                return
            failed[arm] = 0 if step.run is not None else failed[arm] + 1
            taken.append(step)
            yield step
            if step.run is None:
                time.sleep(RETRY_S)

    def _step_s(self, arm: int) -> float:
        action = _action(self._requests[arm])
        return action.warmup_s + sum(phase.duration_s for phase in action.phases)

    def _take(self, arm: int, rate: float, mark: CurveStep, hear: Hear) -> Step | None:
        """Take a step; None: it was interrupted."""
        request = self._requests[arm]
        action = _action(request)
        phases = tuple(Phase(rate=rate, duration_s=phase.duration_s) for phase in action.phases)
        step = request.model_copy(
            update={"action": action.model_copy(update={"phases": phases}), "seed": random.randrange(2**31)}
        )
        conductor: Conductor

        def watch(event: Told | None) -> None:
            hear(event)
            if isinstance(event, Second) and event.number >= 0 and is_overloaded(event, rate):
                conductor.stop()

        conductor = Conductor(step, watch, checks=False)
        try:
            run = conductor.run()
        except Interrupted as interrupt:
            self.stopped_by = interrupt
            return None
        except (UsageError, ConnectionFailed):
            raise
        except TareError as error:
            if error.exit_code > _SIGNALLED:  # the driver had no result when the signal came
                self.stopped_by = Interrupted(error.exit_code - _SIGNALLED)
                return None
            return Step(arm, rate, None, str(error))
        if conductor.stopped_by is not None:
            self.stopped_by = conductor.stopped_by
            return None
        return Step(arm, rate, replace(run, asked=replace(run.asked, step=mark)))


def _action(request: Request) -> Run:
    assert isinstance(request.action, Run)
    return request.action
