"""Warm-up of a server that has just started: the time after which its response times are steady.

Source: White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, Simulation 69 (1997), the
marginal standard error rule (MSER).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.tune.windows import finished_times

LEAST_S = 2.0
"""Shortest warm-up of a new server."""

WATCHED = 3
"""A new server is watched for this many times the given warm-up."""

TREND = math.log(1.1)
"""Difference of response times, as a logarithm, that a warm-up may leave."""

_AT_1_PERCENT = 2.576  # standard deviations, two-sided
_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Warmup:
    """Load before each window on a server that has just started, s. `is_steady`: under each arm, response times were
    steady after it."""

    length_s: float
    is_steady: bool


class Watch:
    """New servers, watched one after another until the longest warm-up among them is known."""

    def __init__(self, given_s: float) -> None:
        """`given_s`: the user's warm-up."""
        self.length_s = max(LEAST_S, WATCHED * given_s)
        """Time for which a server is watched before its window."""
        self.warmup: Warmup | None = None
        self._seen: list[Steady] = []

    def see(self, records: NDArray[np.void], begins_ns: int, length_s: float) -> None:
        """Transactions of a server from its first on."""
        self._seen.append(steadiness(by_second(records, begins_ns, math.floor(length_s))))

    def conclude(self) -> Warmup:
        """The longest warm-up; all that was watched if a server did not become steady."""
        if all(seen.is_steady for seen in self._seen):
            longest_s = max(LEAST_S, *(float(seen.begins) for seen in self._seen))
            self.warmup = Warmup(min(longest_s, self.length_s), True)
        else:
            self.warmup = Warmup(self.length_s, False)
        return self.warmup


@dataclass(frozen=True, slots=True)
class Steady:
    """Result of looking for a warm-up. `begins`: number of values that belong to it."""

    begins: int
    is_steady: bool  # False: the rest still has a trend


def steadiness(values: Sequence[float]) -> Steady:
    """Remove values at the beginning, at most half of them, so that the mean of the rest is most precise: least
    variance over number. The rest has a trend if Kendall's test sees one at 1% and its halves differ by `TREND`."""
    data = np.asarray(values, dtype=float)
    errors = [float(data[cut:].var() / (len(data) - cut)) for cut in range(len(data) // 2 + 1)]
    begins = int(np.argmin(errors))
    rest = data[begins:]
    half = len(rest) // 2
    if half == 0:
        return Steady(begins, False)
    differs = abs(float(rest[:half].mean() - rest[half:].mean())) > TREND
    return Steady(begins, not (differs and abs(_kendall(rest)) > _AT_1_PERCENT))


def _kendall(values: NDArray[np.float64]) -> float:
    """Kendall's S of values over their order, in its standard deviations if there is no trend (Mann, Econometrica 13,
    1945)."""
    n = len(values)
    signs = np.sign(values[None, :] - values[:, None])
    return float(np.triu(signs, 1).sum() / math.sqrt(n * (n - 1) * (2 * n + 5) / 18))


def by_second(records: NDArray[np.void], begins_ns: int, seconds: int) -> list[float]:
    """Mean logarithm of the response times, ms, of transactions that were due in each second: a few long ones do not
    hide that most have become faster. A second in which none finished is taken for as slow as the slowest."""
    intended, times = finished_times(records)
    numbers = (intended - begins_ns) // _S
    means = [
        float(np.log(np.maximum(inside, 1e-6)).mean())
        if len(inside := times[numbers == second])
        else math.nan
        for second in range(seconds)
    ]
    slowest = max((mean for mean in means if not math.isnan(mean)), default=0.0)
    return [slowest if math.isnan(mean) else mean for mean in means]
