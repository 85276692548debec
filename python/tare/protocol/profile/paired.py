"""Ratios of windows that take turns: of two kinds, each pair of neighbours compared with itself.

Windows that follow each other make a pair, so that what drifts meets both alike. The values are the logarithms of each
pair's ratio. From SIGNED_RANKS pairs on, signed ranks give their centre and its interval
(`tare.protocol.signed_ranks`), since a server that stands still for a moment makes one window many times as slow.
With two to five pairs the interval is Student's t with a moderated variance (G. K. Smyth, 2004): the sample's
variance is averaged with a prior one, a standard deviation of PRIOR_SD worth PRIOR_FREEDOM degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from tare.protocol.profile.found import Estimate
from tare.protocol.signed_ranks import centre, interval
from tare.protocol.statistics import CONFIDENCE

FEWEST_PAIRS = 2
"""Pairs from which on a ratio has an interval."""

SIGNED_RANKS = 6
"""Pairs from which on the interval needs no prior. With fewer the prior alone makes it wider than 20 points."""

PRIOR_SD = 0.15
"""Standard deviation of a pair's logarithmic ratio that is assumed before any pair is seen: windows of about a second
of a loaded server on two CPUs."""

PRIOR_FREEDOM = 4
"""Degrees of freedom that PRIOR_SD is worth."""

T = TypeVar("T")


def neighbours(windows: Iterable[T], is_first: Callable[[T], bool]) -> Iterator[tuple[T, T]]:
    """Return pairs of neighbours of different kinds, each window in one pair at most: the one of the first kind
    first."""
    waiting: T | None = None
    for window in windows:
        if waiting is None or is_first(waiting) == is_first(window):
            waiting = window
        else:
            yield (window, waiting) if is_first(window) else (waiting, window)
            waiting = None


def ratio_of(ratios: Sequence[float], prior_sd: float = PRIOR_SD) -> Estimate | None:
    """Return the centre of the ratios of all pairs, which are positive; None: too few pairs for an interval."""
    if len(ratios) < FEWEST_PAIRS:
        return None
    logs = np.log(ratios)
    if (found := interval(logs)) is not None:
        value, low, high = centre(logs), found.low, found.high
    else:
        from scipy.special import stdtrit

        freedom = PRIOR_FREEDOM + len(logs) - 1
        squares = PRIOR_FREEDOM * prior_sd**2 + (len(logs) - 1) * float(logs.var(ddof=1))
        half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * math.sqrt(squares / freedom / len(logs))
        value = float(logs.mean())
        low, high = value - half, value + half
    return Estimate(math.exp(value), math.exp(low), math.exp(min(high, 700.0)))


def lost(ratio: Estimate | None) -> Estimate | None:
    """Return the share that is lost where only `ratio` of a rate is left."""
    return None if ratio is None else Estimate(1 - ratio.value, 1 - ratio.high, 1 - ratio.low)
