"""Sums of products of whole numbers, without any rounding, at the speed of floating-point matrix products.

A variance is a small difference of large sums, and equation 1 a small difference of large covariances where these
cancel (a committer waits or writes). So nothing is rounded before the last division: each number is cut into limbs of
18 bits; products of limbs are below 2^36, sums of 2^15 of them below 2^51, and three such sums below 2^53: float64
holds each exactly. (The idea is that of Ozaki et al., "Error-free transformations of matrix multiplication", Numerical
Algorithms 59, 2012.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tare.protocol.profile.measured import Floats
from tare.protocol.profile.times import MOST_ROWS

_BITS = 18
_MOST_LIMBS = 3

Whole = NDArray[Any]
"""Array of Python ints."""


def limbs(values: Floats) -> list[Floats]:
    """Such that values = Σ limbs[i] · 2^(18 i), each below 2^18 in size. Takes whole numbers below 2^53 in size, and
    at most 2^15 rows, which sums of products rely on."""
    assert len(values) <= MOST_ROWS
    found: list[Floats] = []
    rest = values
    while True:
        if len(found) == _MOST_LIMBS - 1 or not len(rest) or np.abs(rest).max(initial=0) < 2**_BITS:
            return [*found, rest]
        above = np.floor(rest * 2.0**-_BITS)
        found.append(rest - above * 2.0**_BITS)
        rest = above


class Sums:
    """Σ over rows of left · right: of all pairs of columns (`gram`), or of equal columns (`along`)."""

    def __init__(self) -> None:
        self._levels: dict[int, NDArray[np.int64]] = {}

    def gram(self, left: list[Floats], right: list[Floats]) -> None:
        """Adds leftᵀ · right; both as limbs."""
        self._add(left, right, lambda a, b: a.T @ b)

    def along(self, left: list[Floats], right: list[Floats]) -> None:
        """Adds Σ left · right, column by column; both as limbs."""
        self._add(left, right, lambda a, b: np.einsum("ij,ij->j", a, b))

    def _add(self, left: list[Floats], right: list[Floats], product: Any) -> None:
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                part = product(a, b).astype(np.int64)
                if i + j in self._levels:
                    self._levels[i + j] += part  # below 2^63 for 2^12 chunks of 2^15 rows
                else:
                    self._levels[i + j] = part

    @property
    def total(self) -> Whole:
        parts = [part.astype(object) * (1 << _BITS * level) for level, part in self._levels.items()]
        return sum(parts[1:], start=parts[0])
