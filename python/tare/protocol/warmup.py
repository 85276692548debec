"""Is the beginning of a run still drifting?

For each way to split the run into a leading segment and the rest, the segment's mean is held
against the prediction interval that the rest gives for the mean of as many further runs (Student's
t, Bonferroni over the splits). Among the splits that fall outside, the one with the smallest MSER
— squared error of the rest over the square of its length (White 1997) — is where the warm-up ends.
A run without drift is called drifting with at most `ALPHA` if its noise is normal; heavy-tailed
noise widens the rest's spread with it. Nothing is dropped: the reader is told.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from scipy.stats import t

from tare.measure.records import QE
from tare.protocol.measures import CPU, WALL

ALPHA = 0.01
SMALLEST_SHIFT = 0.01  # of the rest's mean: a drift below it is not worth a word
FEWEST_RUNS = 6
FEWEST_STEADY = 4  # runs that the rest must have, to know its own spread


@dataclass(frozen=True, slots=True)
class WarmUp:
    """`runs` at the start belong to a warm-up; 0 where none is seen. `shift` is relative to the rest."""

    runs: int
    shift: float
    evidence: str

    @property
    def detected(self) -> bool:
        return self.runs > 0


@lru_cache(maxsize=1024)
def _quantile(freedom: int, tests: int) -> float:
    return float(t.ppf(1 - ALPHA / (2 * tests), freedom))


def detect(samples: Sequence[float]) -> WarmUp:
    """Looks for a warm-up in the first half of a run, whose samples come in run order."""
    n = len(samples)
    if n < FEWEST_RUNS:
        return WarmUp(0, 0.0, f"{n} runs are too few to tell; {FEWEST_RUNS} or more are needed")
    longest = min(n // 2, n - FEWEST_STEADY)
    found: list[tuple[float, int, float]] = []
    for lead in range(1, longest + 1):
        rest = samples[lead:]
        mean, spread = statistics.fmean(rest), statistics.stdev(rest)
        gap = statistics.fmean(samples[:lead]) - mean
        bound = _quantile(len(rest) - 1, longest) * spread * math.sqrt(1 / lead + 1 / len(rest))
        if abs(gap) > bound and abs(gap) > SMALLEST_SHIFT * abs(mean):
            mser = spread**2 * (len(rest) - 1) / len(rest) ** 2
            found.append((mser, lead, gap / abs(mean) if mean else math.copysign(math.inf, gap)))
    if not found:
        return WarmUp(0, 0.0, "the beginning of the run does not differ from the rest of it")
    _, lead, shift = min(found)
    runs = "run lies" if lead == 1 else f"{lead} runs lie"
    side = "above" if shift > 0 else "below"
    return WarmUp(lead, shift, f"the first {runs} {abs(shift):.1%} {side} the mean of the later {n - lead}")


def steady(qes: Sequence[QE]) -> bool:
    """Whether warming up may end, by CPU time where it is known (neighbours do not move it), else wall."""
    for measure in (CPU, WALL):
        samples = [value for qe in qes if (value := measure.read(qe)) is not None]
        if samples and len(samples) == len(qes):
            return settled(samples)
    return False


def settled(samples: Sequence[float], window: int = 3, within: float = 0.02) -> bool:
    """Whether samples in run order have come to rest: the last `window` samples lie within ±`within` of their
    median, and the last is not below all before it by more than `within` (it gets no faster)."""
    if len(samples) < window:
        return False
    last = samples[-window:]
    middle = statistics.median(last)
    calm = max(last) - min(last) <= 2 * within * abs(middle)
    return calm and (len(samples) == window or samples[-1] > min(samples[:-1]) * (1 - within))
