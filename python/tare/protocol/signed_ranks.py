"""Location of a sample, robust against a few of its values: of pairs, how far one of two is from the other.

The Hodges–Lehmann estimate is the median of the means of any two values and of each by itself (Walsh averages); the
interval is the distribution-free one that inverts Wilcoxon's signed ranks (Hollander & Wolfe §3.3). It holds for values
that scatter symmetrically about their centre. For normal ones it is 2% wider than Student's; one value that is far out
moves it no more than one that is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tare.protocol.statistics import CONFIDENCE, Interval

Floats = npt.NDArray[np.float64]


def centre(values: Sequence[float] | Floats) -> float:
    """Raises ValueError for none."""
    if not len(values):
        raise ValueError("no value has no centre")
    return float(np.median(walsh_averages(values)))


def interval(values: Sequence[float] | Floats, confidence: float = CONFIDENCE) -> Interval | None:
    """Return the interval of the centre, of at least this confidence. None: for so few values there is none."""
    found = beyond_ranks(len(values), confidence)
    if found is None:
        return None
    beyond, coverage = found
    averages = np.sort(walsh_averages(values))
    return Interval(float(averages[beyond]), float(averages[-1 - beyond]), coverage)


def walsh_averages(values: Sequence[float] | Floats) -> Floats:
    taken = np.asarray(values, dtype=float)
    averages: Floats = ((taken[:, None] + taken) / 2)[np.triu_indices(len(taken))]
    return averages


@lru_cache(maxsize=256)
def beyond_ranks(number: int, confidence: float) -> tuple[int, float] | None:
    """How many Walsh averages of so many values lie beyond the interval on each side, and its true coverage.

    Each of the 2^number sets of ranks is as likely as any other to be that of the positive ones; W is its sum."""
    chances = np.zeros(number * (number + 1) // 2 + 1)  # of each W
    chances[0] = 1.0
    for rank in range(1, number + 1):
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    at_most = np.cumsum(chances)
    beyond = int(np.searchsorted(at_most, (1 - confidence) / 2, side="right")) - 1
    return None if beyond < 0 else (beyond, float(1 - 2 * at_most[beyond]))
