"""How many neighbours in time make a block that is drawn whole, so that intervals know of their likeness.

A checkpoint, a stall or a queue slows transactions that began near each other. Drawn one by one they would seem to tell
more than they do; drawn in blocks as long as their likeness lasts, they do not. The length is the one that is best for
the variance of a mean by Politis and White ("Automatic block-length selection for the dependent bootstrap",
Econometric Reviews 23, 2004; corrected by Patton, Politis and White, 28, 2009), the larger of those for T and for
(T - mean)², of which Var(T) is the mean.
"""

from __future__ import annotations

import math

import numpy as np

from tare.protocol.profile.measured import Floats

MOST_BLOCKS = 1_000
"""More would only cost memory: the error of an interval's width is near 1/√(2 · blocks), here 2%."""

FEWEST_BLOCKS = 20
"""If need be at the price of blocks that are shorter than the likeness lasts."""


def block_length(total: Floats) -> int:
    """Return the block length of T in order of begin."""
    n = len(total)
    apart = total - total.mean()
    wanted = max(_best(apart), _best(apart**2), n / MOST_BLOCKS, 1.0)
    return max(1, min(math.ceil(wanted), n // FEWEST_BLOCKS))


def _best(series: Floats) -> float:
    """The optimal length for the block bootstrap of its mean; 1 where no likeness is seen."""
    n = len(series)
    correlation = _autocorrelation(series)
    if correlation is None:
        return 1.0
    quiet = max(5, math.ceil(math.sqrt(math.log10(n))))
    small = np.abs(correlation[1:]) < 2 * math.sqrt(math.log10(n) / n)
    last = _last_before(small, quiet)
    if last == 0:
        return 1.0
    lags = np.arange(1, min(2 * last, len(correlation) - 1) + 1)
    weights = np.clip(2 * (1 - lags / (2 * last)), 0, 1)  # the flat-top kernel
    kept = weights * correlation[lags]
    g, spectrum = 2 * float((kept * lags).sum()), 1 + 2 * float(kept.sum())
    if spectrum <= 0:
        return 1.0
    return float((2 * g**2 / (4 / 3 * spectrum**2)) ** (1 / 3) * n ** (1 / 3))


def _autocorrelation(series: Floats) -> Floats | None:
    """Up to a lag of n/4, at most 2^12; None for a constant or too few."""
    n = len(series)
    most = min(n // 4, 1 << 12)
    apart = series - series.mean()
    square = float((apart**2).sum())
    if most < 10 or square <= 0:
        return None
    size = 1 << (n + most).bit_length()
    frequencies = np.fft.rfft(apart, size)
    found: Floats = np.fft.irfft(np.abs(frequencies) ** 2, size)[: most + 1] / square
    return found


def _last_before(small: np.ndarray[tuple[int], np.dtype[np.bool_]], quiet: int) -> int:
    """The lag after which so many in a row are small; the last that is not, if there is no such."""
    run = 0
    for lag, one in enumerate(small, start=1):
        run = run + 1 if one else 0
        if run == quiet:
            return lag - quiet
    large = np.flatnonzero(~small)
    return int(large[-1]) + 1 if len(large) else 0
