"""A histogram of three significant digits, put together to what a chart can show."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate

from tare.workload.oltp.distribution import MS, Distribution

PER_DECADE = 16
"""Bins of equal width on a logarithmic scale, for a histogram."""

POINTS_PER_DECADE = 24
"""Points of a curve in a decade."""


def binned(of: Distribution) -> list[tuple[float, float, int]]:
    """(from, to, how many), ms; the bins without any between others too."""
    found: Counter[int] = Counter()
    for upper, count in of.histogram:
        found[math.floor(math.log10(max(upper, 1) / MS) * PER_DECADE)] += count
    if not found:
        return []
    return [
        (10 ** (place / PER_DECADE), 10 ** ((place + 1) / PER_DECADE), found[place])
        for place in range(min(found), max(found) + 1)
    ]


def slower(of: Distribution) -> list[tuple[float, float]]:
    """(ms, share of the transactions that took longer), thinned; the longest has the share of one of them."""
    if not of.count:
        return []
    below = list(accumulate(count for _, count in of.histogram))
    kept: dict[int, tuple[float, float]] = {}
    for (upper, _), height in zip(of.histogram, below, strict=True):
        ms, share = upper / MS, 1 - height / below[-1]
        if share > 0:
            # one a step in time and in share: steep and flat stretches are both smooth
            kept[_step(ms) * 100_000 + _step(share)] = (ms, share)
    last = max(kept.values())[1] if kept else 1.0
    return [*sorted(kept.values()), (of.max / MS, min(last, 1 / below[-1]))]


def _step(value: float) -> int:
    return math.floor(math.log10(max(value, 1e-9)) * POINTS_PER_DECADE) + 500
