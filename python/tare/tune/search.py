"""A search while it runs: rounds until the finalists are left, whatever overloads the server on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tare.tune.arms import BASELINE, Arm
from tare.tune.racing import CONFIRMING, FINALISTS, blocks_within, halvings, ranked, standings, survivors
from tare.tune.record import DroppedArm, RunRecord, SearchRecord, SearchRound, WindowRecord
from tare.tune.specification import TuneSpecification
from tare.tune.verdicts import Objective

Measure = Callable[[Sequence[Arm], int, int, int], tuple[RunRecord, list[WindowRecord]]]
"""Measures arms in a number of judged blocks; then: number of the round, and of its first block."""


@dataclass(slots=True)
class Search:
    """Candidates that are left, and the rounds so far."""

    specification: TuneSpecification
    budget_s: float
    window_costs_s: Callable[[], float]  # it becomes less once a new server's warm-up is known
    left: list[Arm]
    rounds: list[SearchRound] = field(default_factory=list)
    runs: list[RunRecord] = field(default_factory=list)
    windows: list[WindowRecord] = field(default_factory=list)
    is_ended: bool = False  # by the user, or since the baseline itself is over capacity
    now: Callable[[], float] = time.monotonic
    began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.began_s = self.now()

    @property
    def objective(self) -> Objective:
        return self.specification.goal.objectives[0]

    @property
    def seconds_left(self) -> float:
        return self.began_s + self.budget_s - self.now()

    def race(self, measure: Measure) -> None:
        """Rounds until the finalists are left. A candidate that overloads the server ends its round and leaves."""
        while len(self.left) > FINALISTS and not self.is_ended:
            seconds = (self.seconds_left - CONFIRMING * self.budget_s) / halvings(len(self.left))
            blocks = self.blocks_within(seconds, len(self.left) + 1)
            first = 1 + max((window.block for window in self.windows), default=-1)
            arms = (Arm(BASELINE, {}), *self.left)
            run, windows = measure(arms, blocks, len(self.rounds), first)
            self.runs.append(run)
            self.windows += windows
            ended = self._ended(run)
            self.rounds.append(SearchRound(arms=tuple(arm.name for arm in self.left), ended=ended))
            names = {arm.name for arm in ended}
            self.left = [arm for arm in self.left if arm.name not in names]

    def blocks_within(self, seconds: float, arms: int) -> int:
        return blocks_within(seconds, arms, self.window_costs_s(), self.specification.load.warmup_s)

    def record(self, candidates: Sequence[Arm]) -> SearchRecord:
        return SearchRecord(
            objective=self.objective,
            budget_s=self.budget_s,
            took_s=self.now() - self.began_s,
            candidates={arm.name: dict(arm.settings) for arm in candidates},
            rounds=tuple(self.rounds),
            runs=tuple(self.runs),
            windows=tuple(self.windows),
        )

    # Inside ----------------------------------------------------------------------------
    def _ended(self, run: RunRecord) -> tuple[DroppedArm, ...]:
        """Candidates that go no further."""
        if run.is_stopped:
            self.is_ended = True
            return ()
        if run.is_over or run.changed_regime:
            first = max(run.leaving, key=run.leaving.__getitem__, default=BASELINE)
            if first == BASELINE:
                self.is_ended = True
                return ()
            return (DroppedArm(name=first, reason="left a backlog: over capacity at this rate"),)
        names = [arm.name for arm in self.left]
        order = ranked(standings(self.windows, names, self.objective), self.objective)
        return tuple(
            DroppedArm(name=name, reason=f"not among the best {survivors(len(names))} of {len(names)}")
            for name in order[survivors(len(names)) :]
        )
