"""When enough runs are enough: on the width of the interval, never on a p-value.

Stopping when p falls below a bound makes equal queries differ, given time. The width says how well
the effect is known, not which way it points, so a run may be watched without bending its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tare.errors import UsageError
from tare.measure.records import QE
from tare.protocol.compare import Comparison, Shift, ratio_of
from tare.protocol.measures import Measure
from tare.protocol.statistics import Interval, Summary

MIN_RUNS = 12
"""Fewest runs of each side: `benchmarks/aa.py` finds a 5% slowdown even where one run in twenty is disturbed."""
MAX_RUNS = 200

_FORM = re.compile(r"ci=(\d+(?:\.\d+)?)%")


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop once the 95% interval's half-width is at most `half_width` of the estimate."""

    half_width: float
    min_runs: int = MIN_RUNS
    max_runs: int = MAX_RUNS

    @classmethod
    def parse(cls, text: str, min_runs: int = MIN_RUNS, max_runs: int = MAX_RUNS) -> Stop:
        """Reads "ci=2%". Raises UsageError."""
        found = _FORM.fullmatch(text.replace(" ", ""))
        if found is None or not 0 < float(found[1]) < 100:
            raise UsageError(
                f"--until {text}: not a rule to stop by", "write --until ci=2%, or another per cent"
            )
        return cls(float(found[1]) / 100, min_runs, max(min_runs, max_runs))

    def __str__(self) -> str:
        return f"ci={self.half_width * 100:g}%"

    def enough(self, runs: int, width: float | None) -> bool:
        """Whether to stop now: known well enough, or at the end of the patience."""
        return runs >= self.max_runs or (
            runs >= self.min_runs and width is not None and width <= self.half_width
        )

    def after(self, result: Comparison | Summary) -> bool:
        """Whether to stop, having seen this comparison (its ratio) or this sample (its median)."""
        if isinstance(result, Comparison):
            return self.enough(min(result.runs_a, result.runs_b), relative_half_width(result))
        return self.enough(sum(s is not None for s in result.samples), relative_half_width(result))


def relative_half_width(result: Comparison | Summary) -> float | None:
    """Half the 95% interval over the estimate: of the ratio, or of the median. None where there is none."""
    if isinstance(result, Comparison):
        return width_of_ratio(result.ratio)
    return _relative(result.interval, result.median or 0.0)


def width_of_ratio(ratio: Shift | None) -> float | None:
    """The same of a comparison of which only the ratio is known."""
    return None if ratio is None else _relative(ratio.ci95, ratio.estimate)


def _relative(interval: Interval | None, estimate: float) -> float | None:
    if interval is None or estimate == 0:
        return None
    return interval.half_width / abs(estimate)


Enough = Callable[[Sequence[Sequence[QE]]], bool]


def enough(measure: Measure, stop: Stop | None, runs: int) -> Enough:
    """Return the stopping rule of an interleaved comparison, which is asked after every round.

    Without a `stop`, `runs` retained QEs of each query are enough."""

    def asked(queries: Sequence[Sequence[QE]]) -> bool:
        fewest = min(len(qes) for qes in queries)
        if stop is None:
            return fewest >= runs
        if fewest < stop.min_runs:
            return False
        a, b = ([value for qe in qes if (value := measure.read(qe)) is not None] for qes in queries)
        # A measure that is never read has no interval: patience alone ends the run.
        if not a or not b:
            return stop.enough(fewest, None)
        return stop.enough(min(len(a), len(b)), width_of_ratio(ratio_of(a, b)))

    return asked
