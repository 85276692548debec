"""Is the beginning of a run still drifting?

Each way to split the run into a leading segment and the rest is tried. A split counts if

- every leading run lies on one side of every later one (of all but a tenth of them), and
- the leading mean falls outside the prediction interval that the rest gives for the mean of as
  many further runs (Student's t, Bonferroni over the splits), and
- the two means are more than 1% apart.

Among those that count, the least-squares change point is where the warm-up ends. On steady normal
noise this speaks up in fewer than one run in a hundred; a far-out run is taken for a warm-up only
where it happens to come first. Nothing is dropped: the reader is told.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tare.measure.records import QE
from tare.protocol.measures import CPU, CPU_OF_ALL, WALL

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
    from scipy.special import stdtrit  # slow to load, and few runs come to this

    return float(stdtrit(freedom, 1 - ALPHA / (2 * tests)))


def detect(samples: Sequence[float]) -> WarmUp:
    """Looks for a warm-up in the first half of a run, whose samples come in run order."""
    n = len(samples)
    if n < FEWEST_RUNS:
        return WarmUp(0, 0.0, f"{n} runs are too few to tell; {FEWEST_RUNS} or more are needed")
    longest = min(n // 2, n - FEWEST_STEADY)
    found: list[tuple[float, int, float]] = []
    for lead in range(1, longest + 1):
        first, rest = samples[:lead], samples[lead:]
        mean, spread = statistics.fmean(rest), statistics.stdev(rest)
        gap = statistics.fmean(first) - mean
        if abs(gap) <= SMALLEST_SHIFT * abs(mean) or not _apart(first, rest, gap):
            continue
        bound = _quantile(len(rest) - 1, longest) * spread * math.sqrt(1 / lead + 1 / len(rest))
        if abs(gap) > bound:
            explained = gap**2 * lead * (n - lead) / n
            found.append((explained, lead, gap / abs(mean) if mean else math.copysign(math.inf, gap)))
    if not found:
        return WarmUp(0, 0.0, "the beginning of the run does not differ from the rest of it")
    _, lead, shift = max(found)
    runs = "run lies" if lead == 1 else f"{lead} runs lie"
    side = "above" if shift > 0 else "below"
    return WarmUp(lead, shift, f"the first {runs} {abs(shift):.1%} {side} the mean of the later {n - lead}")


def _apart(first: Sequence[float], rest: Sequence[float], gap: float) -> bool:
    """Whether all of `first` lie beyond all but a tenth of `rest`, on the side of `gap`."""
    forgiven = len(rest) // 10
    if gap > 0:
        return min(first) > sorted(rest)[-1 - forgiven]
    return max(first) < sorted(rest)[forgiven]


def steady(qes: Sequence[QE]) -> bool:
    """Whether warming up may end: by the CPU time of all query processes, which neighbours and the
    workers' share of the work do not move; where that is unknown by the leader's, else by wall time."""
    for measure in (CPU_OF_ALL, CPU, WALL):
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
