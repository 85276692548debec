"""Points of a curve's figure: the steps at each rate of each arm, and which of them a line may join."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.report.oltp.curve.document import CurveReport, Step
from tare.report.oltp.document import Figure

FIGURES: Mapping[str, str] = {
    "p50": "median",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p99.9",
    "max": "longest",
    "mean": "mean",
    "sd": "standard deviation",
}
"""Figures of times, with their labels."""

WAITS: Mapping[str, str] = {
    "server_cpu": "server on CPU",
    "driver_cpu": "driver on CPU",
    "server_run_queue": "server waits for CPU",
    "server_block_io": "server waits for disk",
    "waiting_io": "sessions wait for I/O",
    "lock_wait_time": "sessions wait for row locks",
    "waiting_lock": "sessions wait for locks",
    "waiting_lwlock": "sessions wait for LWLocks",
}
"""Measures that count threads or sessions on average, with their labels."""

_IO = "waiting_io"
"""Measure of the DBMS that stands in the place of the kernel's, which counts background threads, too."""

MOST_BLOCKED = 1000.0
"""Threads that wait for a disk, above which the kernel's count is wrong: its delay accounting was just switched on."""

WIDE = 12.0
"""Ratio of the highest rate to the lowest from which the axis of rates is logarithmic."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Steps of one arm at one requested rate."""

    arm: int
    requested: float
    steps: Sequence[Step]

    @property
    def is_joined(self) -> bool:
        """Whether every step is a result, so that a line passes here."""
        return all(step.is_result for step in self.steps)

    def middle(self, figure: str, times: str = "response") -> float | None:
        """The middle step's figure, of an even number the slower one; no mean over steps."""
        values = sorted(
            value
            for step in self.steps
            if step.is_result and (value := figure_of(step, figure, times)) is not None
        )
        return values[len(values) // 2] if values else None

    def load(self, name: str) -> float | None:
        """A measure of the middle step, as `middle`."""
        values = sorted(
            value for step in self.steps if step.is_result and (value := load_of(step, name)) is not None
        )
        return values[len(values) // 2] if values else None

    def whisker(self, figure: str) -> tuple[float, float] | None:
        """Range over the results; of one alone its 95% interval."""
        found = [step for step in self.steps if step.is_result]
        values = [value for step in found if (value := figure_of(step, figure)) is not None]
        if len(values) > 1:
            return min(values), max(values)
        return bounds_of(found[0], figure) if found else None


def rates(report: CurveReport) -> list[Rate]:
    """By arm, then by rate."""
    steps: dict[tuple[int, float], list[Step]] = defaultdict(list)
    for step in report.steps:
        steps[step.arm, step.requested].append(step)
    return [Rate(arm, requested, found) for (arm, requested), found in sorted(steps.items())]


def figure_of(step: Step, figure: str, times: str = "response") -> float | None:
    """A figure of a step in ms."""
    found = _figure(step, figure, times)
    return found.value if isinstance(found, Figure) else found


def bounds_of(step: Step, figure: str) -> tuple[float, float] | None:
    found = _figure(step, figure, "response")
    if not isinstance(found, Figure) or found.low is None or found.high is None:
        return None
    return found.low, found.high


def load_of(step: Step, name: str) -> float | None:
    """Mean of a measure; the driver's CPU is one of the step's own."""
    if name == "driver_cpu":
        return step.driver_cpu
    found = {load.name: load.mean for load in step.loads}
    if name == "server_block_io" and (_IO in found or found.get(name, 0.0) > MOST_BLOCKED):
        return None
    return found.get(name)


def is_wide(report: CurveReport) -> bool:
    """Whether rates need a logarithmic axis."""
    found = [step.requested for step in report.steps]
    return max(found) > WIDE * min(found)


def _figure(step: Step, figure: str, times: str) -> Figure | float | None:
    of = step.response if times == "response" else step.service
    name = figure.replace("p99.9", "p99_9")
    found: Figure | float | None = getattr(of, name)
    return found
