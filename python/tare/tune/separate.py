"""A stage of separate runs, for settings that open sessions do not follow.

Each window is an open-loop run of its own, whose connections are opened after the switch, or on a server that was
started for it. An arm that overloads the server leaves nothing to the next one: its transactions end with its run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
from numpy.typing import NDArray

from tare.scratch import Scratch
from tare.tune.arms import Arm
from tare.tune.journal import Changes
from tare.tune.settings.setting import ChangeFailed
from tare.tune.stage import OVER_WINDOWS, Measured, Plan, Stage, as_run, measured
from tare.tune.steady import Watch
from tare.tune.windows import Window, read
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Request, Run
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Second, Started, Told

WARMUP_S = 2.0
"""Longest warm-up of a window of new sessions after the first block; the server's caches are warm by then."""

AROUND_S = 0.5
"""Connections and the last transactions of a window."""

_S = 1e9

Under = Callable[[Arm], AbstractContextManager[str]]
"""Puts the server under an arm for the length of a block; the URL to load."""


def window_costs_s(window_s: float, warmup_s: float) -> float:
    """Time that a window of new sessions takes with all that is around it."""
    return window_s + min(WARMUP_S, warmup_s) + AROUND_S


def restarted_window_costs_s(window_s: float, watch: Watch, start_s: float) -> float:
    """Time that a window on a new server takes with all that is around it; the longest, until its warm-up is known."""
    warmup_s = watch.length_s if watch.warmup is None else watch.warmup.length_s
    return window_s + warmup_s + AROUND_S + start_s


def changing(changes: Changes, url: str) -> Under:
    """Arms whose settings are changed on the running server."""

    @contextmanager
    def under(arm: Arm) -> Iterator[str]:
        changes.make(dict(arm.settings))
        yield url

    return under


class SeparateConductor:
    """Makes one stage of separate runs."""

    def __init__(
        self,
        request: Request,
        under: Under,
        arms: Sequence[Arm],
        plan: Plan,
        hear: Callable[[Told | None], None] = lambda event: None,
        *,
        watch: Watch | None = None,
    ) -> None:
        """`request` is of a run, whose URL, phases and samples are replaced by each window's. `watch`: each window's
        server has just started; the first block finds out how long it warms up, if that is not known."""
        self._request = request
        self._under = under
        self._arms = tuple(arms)
        self._plan = plan
        self._hear = hear
        self._watch = watch
        self._is_watching = watch is not None and watch.warmup is None
        self._windows: list[Measured] = []
        self._records: list[NDArray[np.void]] = []
        self._measured_s = 0.0

    def run(self) -> Stage:
        """Ctrl-C ends the stage early; its whole blocks remain. Raises ChangeFailed or ServerFailed if the server
        refuses an arm while it runs, and what `Conductor.run` raises."""
        order = self._plan.order(len(self._arms))
        first: OltpRun | None = None
        is_over = is_stopped = False
        for number, (block, arm) in enumerate(order):
            called_ns = time.monotonic_ns()
            with self._under(self._arms[arm]) as url:
                switch_ms = (time.monotonic_ns() - called_ns) / 1e6
                is_end = number in (0, len(order) - 1)  # conditions on the data, before and after all windows
                run, is_stopped = self._window(url, number, block, arm, switch_ms, checks=is_end)
            first = first or run
            if is_stopped:
                break
            is_over = self._is_over()
            if is_over:
                break
        if first is None:
            raise ChangeFailed("the load ended before the first window", "run again")
        return Stage(
            plan=self._plan,
            arms=self._arms,
            run=first,
            windows=tuple(self._windows),
            is_over=is_over,
            is_stopped=is_stopped,
            records=np.concatenate(self._records),
            is_separate=True,
            warmup=None if self._watch is None else self._watch.warmup or self._watch.conclude(),
        )

    # Inside ----------------------------------------------------------------------------
    def _window(
        self, url: str, number: int, block: int, arm: int, switch_ms: float, *, checks: bool
    ) -> tuple[OltpRun, bool]:
        """Measure a window; True if the user ended its run, which then has none."""
        watched = self._watch if self._is_watching and block == 0 else None
        length_s = self._plan.window_s + (watched.length_s if watched else 0.0)
        with Scratch("tare-tune-") as folder:
            samples = folder / "samples"
            request = as_run(self._request, self._plan.rate, length_s, samples)
            action = request.action.model_copy(update={"warmup_s": self._warmup_s(block)})
            assert isinstance(action, Run)
            request = request.model_copy(
                update={"url": url, "action": action, "seed": self._plan.seed + number}
            )
            conductor = Conductor(request, self._pass_on, checks=checks)
            run = conductor.run()
            records = read(str(samples))
        self._records.append(records)
        self._measured_s += length_s
        if conductor.stopped_by is not None:
            return run, True
        ends_ns = run.outcome.started_ns + int(length_s * _S)
        begins_ns = ends_ns - int(self._plan.window_s * _S)
        if watched is not None:
            watched.see(records, run.outcome.started_ns, length_s)
        window = Window(
            block=block,
            arm=arm,
            begins_ns=begins_ns,
            from_ns=begins_ns + int(self._plan.settle_s * _S),  # time to see whether a backlog grows
            to_ns=ends_ns,
            switch_ms=switch_ms,
        )
        self._windows += measured(run, records, [window], self._plan.p, action.connections)
        return run, False

    def _warmup_s(self, block: int) -> float:
        """Warm-up of a window. A watched server has none: all of its transactions are looked at."""
        if self._watch is not None:
            if self._is_watching and block == 0:
                return 0.0
            return (self._watch.warmup or self._watch.conclude()).length_s
        assert isinstance(self._request.action, Run)
        given_s = self._request.action.warmup_s
        return given_s if block == 0 else min(WARMUP_S, given_s)

    def _is_over(self) -> bool:
        """Whether the last windows of the baseline or its copy began with a backlog."""
        mine = [window for window in self._windows if self._arms[window.window.arm].is_copy]
        last = mine[-OVER_WINDOWS:]
        return len(last) == OVER_WINDOWS and all(window.is_carried_over for window in last)

    def _pass_on(self, event: Told | None) -> None:
        """The runs as one, whose seconds are counted on."""
        match event:
            case Started() if self._measured_s:
                return
            case Second() if event.number >= 0:
                event = event.model_copy(update={"number": event.number + int(self._measured_s)})
        self._hear(event)
