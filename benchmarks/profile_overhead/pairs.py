"""How windows differ from the ones beside them, whatever a few of them met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tare.protocol.signed_ranks import centre, interval


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
    """By signed ranks of the ratios' logarithms: some server stands still for a tenth of a second now and then, and at
    half of the rate that is all of its window's mean latency."""
    logs = np.log(ratios)
    found = interval(logs)
    low, high = (found.low, found.high) if found else (-math.inf, math.inf)
    return Change(math.expm1(centre(logs)), math.expm1(low), math.expm1(high))


def change_over(rounds: Sequence[Sequence[float]]) -> Change:
    """Change over the centres of each round's ratios, in the same way: what differs from round to round, such as which
    server has which data, is in the interval then."""
    return change([math.exp(centre(np.log(ratios))) for ratios in rounds])
