"""How windows differ from the ones beside them, whatever a few of them met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Z = 1.96  # of 95%


@dataclass(frozen=True, slots=True)
class Change:
    """Shares of 1, with a 95% interval; that is from -1 to infinity where there are too few pairs for one."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isinf(self.high - self.low):
            return f"{100 * self.value:.1f}%"
        return f"{100 * self.value:.1f}% ({100 * self.low:.1f} to {100 * self.high:.1f})"


def change(ratios: Sequence[float]) -> Change:
    """Hodges-Lehmann's estimate of one sample, of the ratios' logarithms: the median of the means of any two, and the
    interval that Wilcoxon's signed ranks give (normal approximation). Some server stands still for a tenth of a second
    now and then, and at half of the rate that is all of its window's mean latency."""
    number = len(ratios)
    means = _means(ratios)
    outside = number * (number + 1) / 4 - Z * math.sqrt(number * (number + 1) * (2 * number + 1) / 24)
    if outside < 1:
        return Change(math.expm1(np.median(means)), -1.0, math.inf)
    low, high = math.floor(outside) - 1, len(means) - math.floor(outside)
    value, low_end, high_end = (math.expm1(log) for log in (np.median(means), means[low], means[high]))
    return Change(value, low_end, high_end)


def change_over(rounds: Sequence[Sequence[float]]) -> Change:
    """Of what each round's ratios come to, in the same way: what differs from round to round, such as which server has
    which data, is in the interval then."""
    return change([math.exp(np.median(_means(ratios))) for ratios in rounds])


def _means(ratios: Sequence[float]) -> Floats:
    """Of the logarithms of any two, and of each; sorted."""
    logs = np.log(ratios)
    return np.sort(((logs[:, None] + logs) / 2)[np.triu_indices(len(ratios))])
