"""Pearson's r and its p from sums that an engine made, and the merging of such sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

from scipy.special import stdtr


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of n pairs (x, y), from which r follows: means, and sums of products of deviations from them."""

    n: int
    mean_x: float
    mean_y: float
    xx: float
    yy: float
    xy: float

    @property
    def r(self) -> float | None:
        """None where one of the two does not vary."""
        if self.xx <= 0 or self.yy <= 0:
            return None
        return max(-1.0, min(1.0, self.xy / math.sqrt(self.xx) / math.sqrt(self.yy)))


def merged(parts: list[Moments]) -> Moments:
    """The moments of all pairs together (Chan, Golub and LeVeque's update: nothing cancels)."""
    return reduce(_merge, parts, Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0))


def _merge(one: Moments, other: Moments) -> Moments:
    n = one.n + other.n
    if n == 0:
        return one
    x, y = other.mean_x - one.mean_x, other.mean_y - one.mean_y
    between = one.n * other.n / n
    return Moments(
        n,
        one.mean_x + x * other.n / n,
        one.mean_y + y * other.n / n,
        one.xx + other.xx + x * x * between,
        one.yy + other.yy + y * y * between,
        one.xy + other.xy + x * y * between,
    )


def p_value(r: float, n: int) -> float:
    """Two-sided, of no correlation, from Student's t with n − 2 degrees of freedom; n is 3 or more.

    0.0 where it is below the smallest double, some 1e-308, as it soon is with many QEs.
    """
    unexplained = (1 - r) * (1 + r)
    if unexplained <= 0:
        return 0.0
    t = abs(r) * math.sqrt((n - 2) / unexplained)
    return float(2 * stdtr(n - 2, -t))
