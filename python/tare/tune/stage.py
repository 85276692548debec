"""A stage: one open-loop run at one rate, within which the arms take turns.

A thread switches the arm at the beginning of each window. Every window switches, also from the baseline to its copy,
so that all arms pay alike for a switch.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tare.errors import TareError
from tare.scratch import Scratch
from tare.tune.arms import Arm, turns
from tare.tune.journal import Changes
from tare.tune.settings.setting import ChangeFailed
from tare.tune.steady import Warmup
from tare.tune.windows import Figures, Window, figures, read
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Phase, Request, Run
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Second, Started, Told

OVER_WINDOWS = 2
"""Windows in a row that begin with a backlog before the stage is over capacity."""

BACKLOG_SHARE = 0.25
"""Share of the connections: the largest backlog that a window may begin with."""

SLOWER = 4.0
"""Ratio of two windows' medians from which they are of two regimes, if the slower one began with a backlog."""

_S = 1e9


@dataclass(frozen=True, slots=True)
class Plan:
    """Shape of a stage. Durations are s."""

    rate: float
    window_s: float = 5.0
    settle_s: float = 0.7
    blocks: int = 12
    seed: int = 0
    p: float = 2.0  # of the L_p norm

    def order(self, arms: int) -> list[tuple[int, int]]:
        """Block and arm of each window."""
        blocks = islice(turns(arms, self.seed), self.blocks)
        return [(number, arm) for number, block in enumerate(blocks) for arm in block]

    def duration_s(self, arms: int) -> float:
        return self.blocks * arms * self.window_s


@dataclass(frozen=True, slots=True)
class Measured:
    """A window with its figures. `others`: CPUs that neither the server nor the driver nor Tare used; None: unknown."""

    window: Window
    figures: Figures
    others: float | None
    is_carried_over: bool  # it began with a backlog of an earlier window


@dataclass(frozen=True, slots=True)
class Stage:
    """Result of a stage. `is_over`: it was stopped since the server did not keep up with the rate."""

    plan: Plan
    arms: tuple[Arm, ...]
    run: OltpRun
    windows: tuple[Measured, ...]
    is_over: bool
    is_stopped: bool  # the user ended it early
    records: NDArray[np.void]
    is_separate: bool = False  # each window is a run of its own
    warmup: Warmup | None = None  # None: the server was running before

    @property
    def blocks(self) -> list[dict[int, Measured]]:
        """Whole blocks: the window of each arm."""
        found: dict[int, dict[int, Measured]] = {}
        for measured in self.windows:
            found.setdefault(measured.window.block, {})[measured.window.arm] = measured
        return [block for _, block in sorted(found.items()) if len(block) == len(self.arms)]

    @property
    def changed_regime(self) -> bool:
        """Whether the baseline itself was of two regimes: short queues, and medians several times as long behind a
        backlog."""
        mine = [
            measured
            for measured in self.windows
            if self.arms[measured.window.arm].is_copy and measured.figures.p50 is not None
        ]
        medians = [measured.figures.p50 or 0.0 for measured in mine]
        slow = [measured.figures.p50 or 0.0 for measured in mine if measured.is_carried_over]
        return bool(slow) and max(slow) >= SLOWER * min(medians)

    @property
    def leaving(self) -> dict[str, int]:
        """Number of windows after which a backlog was left, by the arm that left it; of separate runs, in which."""
        causes = self.windows if self.is_separate else (None, *self.windows[:-1])
        counts: dict[str, int] = {}
        for cause, window in zip(causes, self.windows, strict=False):
            if cause is not None and window.is_carried_over:
                name = self.arms[cause.window.arm].name
                counts[name] = counts.get(name, 0) + 1
        return counts


@dataclass(frozen=True, slots=True)
class Dropped:
    """An arm that the server did not take, and the server's reason."""

    arm: Arm
    reason: str


def try_arms(changes: Changes, arms: Sequence[Arm]) -> tuple[tuple[Arm, ...], tuple[Dropped, ...]]:
    """Set each arm once, without a load. Returns those that the server takes, and those that it does not."""
    taken, dropped = [], []
    for arm in arms:
        try:
            changes.make(dict(arm.settings))
            taken.append(arm)
        except ChangeFailed as failed:
            dropped.append(Dropped(arm, failed.what))
    changes.make({})
    return tuple(taken), tuple(dropped)


def as_run(request: Request, rate: float, duration_s: float, samples: Path) -> Request:
    """The request as one open-loop run at this rate that keeps every transaction."""
    action = request.action
    assert isinstance(action, Run)
    phases = (Phase(rate=rate, duration_s=duration_s),)
    return request.model_copy(
        update={"action": action.model_copy(update={"phases": phases, "samples": str(samples)})}
    )


def backlog_limit(connections: int) -> float:
    """Largest number of waiting transactions that a window may begin with."""
    return max(1.0, BACKLOG_SHARE * connections)


def measured(
    run: OltpRun, records: NDArray[np.void], windows: Sequence[Window], p: float, connections: int
) -> list[Measured]:
    """The windows of a run with their figures. `p`: exponent of the L_p norm."""
    busy = {one.second: one.value for one in run.measures if one.name == "others_cpu"}
    limit = backlog_limit(connections)
    return [
        Measured(window, each, _over(busy, run, window), each.backlog > limit)
        for window, each in zip(windows, figures(records, windows, p), strict=True)
    ]


def _connections(request: Request) -> int:
    assert isinstance(request.action, Run)
    return request.action.connections


class StageConductor:
    """Makes one stage."""

    def __init__(
        self,
        request: Request,
        changes: Changes,
        arms: Sequence[Arm],
        plan: Plan,
        hear: Callable[[Told | None], None] = lambda event: None,
        *,
        checks: bool = True,
    ) -> None:
        """`request` is of a run, whose phases and samples are replaced by the stage's."""
        self._request = request
        self._changes = changes
        self._arms = tuple(arms)
        self._plan = plan
        self._hear = hear
        self._checks = checks
        self._is_over = False
        self._late = 0

    def run(self) -> Stage:
        """Ctrl-C ends the stage early; its whole blocks remain. Raises ChangeFailed if the server refuses an arm while
        it runs, and what `Conductor.run` raises."""
        with Scratch("tare-tune-") as folder:
            samples = folder / "samples"
            conductor = Conductor(self._as_run(samples), self._listen, checks=self._checks)
            self._conductor = conductor
            self._switch: _Switch | None = None
            try:
                run = conductor.run()
            finally:
                if self._switch is not None:
                    self._switch.end()
            records = read(str(samples))
        if self._switch is None:
            raise ChangeFailed("the load ended before the first window", "run again")
        if self._switch.error is not None:
            raise self._switch.error
        last_ns = run.outcome.started_ns + int(self._plan.duration_s(len(self._arms)) * _S)
        if self._is_over or conductor.stopped_by is not None:
            last_ns = min(last_ns, run.outcome.started_ns + run.outcome.took_ns)
        windows = [window for window in self._switch.windows if window.to_ns <= last_ns]
        return Stage(
            plan=self._plan,
            arms=self._arms,
            run=run,
            windows=tuple(self._measured(run, records, windows)),
            is_over=self._is_over,
            is_stopped=conductor.stopped_by is not None,
            records=records,
        )

    # Inside ----------------------------------------------------------------------------
    def _as_run(self, samples: Path) -> Request:
        request = as_run(self._request, self._plan.rate, self._plan.duration_s(len(self._arms)), samples)
        return request.model_copy(update={"seed": self._plan.seed})

    def _listen(self, event: Told | None) -> None:
        match event:
            case Started():
                self._switch = _Switch(self._changes, self._arms, self._plan, event.at_ns, self._stop)
                self._switch.start()
            case Second() if event.number >= 0:
                self._guard(event)
        self._hear(event)

    def _guard(self, second: Second) -> None:
        """Stop a stage whose windows begin with a backlog."""
        windows_s = self._plan.window_s
        is_boundary = (second.number + 1) // windows_s > second.number // windows_s
        if not is_boundary:
            return
        self._late = self._late + 1 if second.backlog > self._limit else 0
        if self._late >= OVER_WINDOWS:
            self._is_over = True
            self._stop()

    def _stop(self) -> None:
        self._conductor.stop()

    @property
    def _limit(self) -> float:
        return backlog_limit(_connections(self._request))

    def _measured(self, run: OltpRun, records: NDArray[np.void], windows: Sequence[Window]) -> list[Measured]:
        return measured(run, records, windows, self._plan.p, _connections(self._request))


class _Switch(threading.Thread):
    """Sets each window's arm when the window begins."""

    def __init__(
        self, changes: Changes, arms: Sequence[Arm], plan: Plan, begins_ns: int, stop: Callable[[], None]
    ) -> None:
        super().__init__(name="tare-tune-switch", daemon=True)
        self.windows: list[Window] = []
        self.error: TareError | None = None
        self._changes = changes
        self._arms = arms
        self._plan = plan
        self._begins_ns = begins_ns
        self._stop_load = stop
        self._ended = threading.Event()

    def run(self) -> None:
        length_ns, settle_ns = int(self._plan.window_s * _S), int(self._plan.settle_s * _S)
        try:
            for number, (block, arm) in enumerate(self._plan.order(len(self._arms))):
                begins_ns = self._begins_ns + number * length_ns
                if self._ended.wait(max(0.0, (begins_ns - time.monotonic_ns()) / _S)):
                    return
                called_ns = time.monotonic_ns()
                self._changes.make(dict(self._arms[arm].settings))
                switched_ns = time.monotonic_ns()
                self.windows.append(
                    Window(
                        block=block,
                        arm=arm,
                        begins_ns=begins_ns,
                        from_ns=min(switched_ns + settle_ns, begins_ns + length_ns),
                        to_ns=begins_ns + length_ns,
                        switch_ms=(switched_ns - called_ns) / 1e6,
                    )
                )
        except TareError as error:
            self.error = error
            self._stop_load()

    def end(self) -> None:
        """End the turns and wait for a change that is being made."""
        self._ended.set()
        self.join()


def _over(busy: dict[int, float], run: OltpRun, window: Window) -> float | None:
    """Mean over the seconds that lie in the window."""
    start = run.outcome.started_ns
    first, last = (window.begins_ns - start) / _S, (window.to_ns - start) / _S
    values = [value for second, value in busy.items() if first - 0.01 <= second and second + 1 <= last + 0.01]
    return sum(values) / len(values) if values else None
