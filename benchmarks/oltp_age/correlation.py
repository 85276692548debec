"""Pearson's and Spearman's coefficient, each as sure as its data allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST = 20
DRAWS = 1000
_Z = 1.959964
_S = 1_000_000_000

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    n: int
    pearson: float
    fisher: tuple[float, float]  # 95%, if waits were independent
    by_seconds: tuple[float, float]  # 95%, whole seconds drawn with replacement
    spearman: float


def correlation(one: Numbers, other: Numbers, at_ns: NDArray[np.int64]) -> Correlation | None:
    """`at_ns`: when each was. Waits of one second share queues and even transactions, so seconds are drawn, not waits.

    None: there are too few, or one side does not vary."""
    if len(one) < FEWEST or not np.ptp(one) or not np.ptp(other):
        return None
    pearson = float(np.corrcoef(one, other)[0, 1])
    return Correlation(
        len(one), pearson, fisher(pearson, len(one)), _drawn(one, other, at_ns), spearman(one, other)
    )


def fisher(r: float, n: int) -> tuple[float, float]:
    half = _Z / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def spearman(one: Numbers, other: Numbers) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def _drawn(one: Numbers, other: Numbers, at_ns: NDArray[np.int64]) -> tuple[float, float]:
    """From each second's sums: n, Σx, Σy, Σx², Σy², Σxy of centred values."""
    x, y = one - one.mean(), other - other.mean()
    _, second = np.unique(at_ns // _S, return_inverse=True)
    sums = np.stack(
        [np.bincount(second, part) for part in (np.ones_like(x), x, y, x * x, y * y, x * y)], axis=1
    )
    draws = np.random.default_rng(1).integers(len(sums), size=(DRAWS, len(sums)))
    n, sx, sy, sxx, syy, sxy = sums[draws].sum(axis=1).T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (sxy - sx * sy / n) / np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
    low, high = np.nanquantile(r, (0.025, 0.975))
    return float(low), float(high)
