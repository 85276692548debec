"""The floating-point values of an answer, and how far two answers lie apart in them.

A parallel sum adds in another order each time and differs in its last bits. Two values agree if they differ by no more
than the tolerance, relative to the larger of both; a value below a thousandth of the largest one of its column is
compared relative to that thousandth, since what is left of a sum that cancels out has the error of its terms.

Rows are matched by the exact rest of each, and where several have the same rest, by their values: each column of them
is sorted and cut into clusters at every gap wider than the tolerance. Values that agree are always in one cluster, so
equal bags of rows of clusters are necessary. That each column by itself then pairs up within the tolerance makes them
the same answer. Both are checked in sorted order: the time grows as n log n.

An answer with more values than `MOST` is compared by sums. They are kept for each of `BUCKETS` shares of the rows, each
value with a weight that its row's exact rest gives it: a value in the wrong row then shows, too.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DOUBLE_TOLERANCE = 1e-9
SINGLE_TOLERANCE = 1e-5
"""Relative. A sum of 10^6 values of one sign carries an error of 1e-13 or less, one in single precision 1e-6; a digit
that is wrong in the eighth place of a double is a difference of 1e-8 or more."""

SMALL = 1e-3
"""Share of a column's largest value below which values are compared relative to this share."""

MOST = 4_000_000  # values kept of one answer: 64 MB with the keys of one column
BUCKETS = 4096

Kinds = tuple[bool, ...]  # for each value of a row: whether it is of single precision
_Floats = npt.NDArray[np.float64]
_Keys = npt.NDArray[np.uint64]


@dataclass(slots=True)
class _Values:
    """Rows with values of the same kinds: a key of each one's exact rest, and its values."""

    keys: _Keys
    values: _Floats  # a row each, a column for each value


@dataclass(slots=True)
class _Sums:
    """Weighted sums of the values and of their magnitudes: a row for each bucket, a column for each value."""

    sums: _Floats
    magnitudes: _Floats


class Doubles:
    """Collects the values row by row; `closed` once, then it can be compared."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: dict[Kinds, tuple[array[int], array[float]]] = {}
        self._held = 0
        self._values: dict[Kinds, _Values] = {}
        self._sums: dict[Kinds, _Sums] = {}
        self.count = 0

    @property
    def by_sums(self) -> bool:
        """Whether there were too many values to keep each."""
        return bool(self._sums)

    def add(self, key: int, kinds: Kinds, values: list[float]) -> None:
        """Adds the values of one row; `key` stands for its exact rest, of which the last 64 bits count."""
        keys, floats = self._open.setdefault(kinds, (array("Q"), array("d")))
        keys.append(key & 0xFFFF_FFFF_FFFF_FFFF)
        floats.extend(values)
        self._held += len(values)
        self.count += len(values)
        if self._held > self._most:
            self._fold()

    def closed(self) -> Doubles:
        """Ends collecting and returns itself."""
        if self._sums:
            self._fold()
        self._values = {kinds: _values(kinds, *found) for kinds, found in self._open.items()}
        self._open = {}
        return self

    def _fold(self) -> None:
        for kinds, found in self._open.items():
            held = _values(kinds, *found)
            buckets = (held.keys % np.uint64(BUCKETS)).astype(np.int64)
            weights = 1.0 + (held.keys >> np.uint64(32)).astype(np.float64) / (1 << 32)
            part = [
                np.stack(
                    [
                        np.bincount(buckets, weights * column, BUCKETS).astype(np.float64)
                        for column in columns
                    ],
                    axis=1,
                )
                for columns in (held.values.T, np.abs(held.values.T))
            ]
            before = self._sums.get(kinds)
            self._sums[kinds] = (
                _Sums(part[0], part[1])
                if before is None
                else _Sums(before.sums + part[0], before.magnitudes + part[1])
            )
        self._open = {}
        self._held = 0

    def compared(self, other: Doubles) -> tuple[bool, float]:
        """Whether both agree, and the largest relative difference, in the order that makes it least.

        Both must belong to answers whose rows agree in everything else."""
        agree, largest = True, 0.0
        for kinds, mine in self._values.items():
            same, difference = _compared(kinds, mine, other._values[kinds])
            agree, largest = agree and same, max(largest, difference)
        for kinds, sums in self._sums.items():
            theirs = other._sums[kinds]
            gaps = np.abs(sums.sums - theirs.sums)
            scale = np.maximum(sums.magnitudes, theirs.magnitudes)
            agreed, difference = _judged(gaps, scale, _tolerances(kinds))
            agree, largest = agree and agreed, max(largest, difference)
        return agree, largest


def _values(kinds: Kinds, keys: array[int], floats: array[float]) -> _Values:
    values = np.frombuffer(floats, dtype=np.float64).reshape(-1, len(kinds))
    return _Values(np.frombuffer(keys, dtype=np.uint64), values)


def _tolerances(kinds: Kinds) -> _Floats:
    return np.array([SINGLE_TOLERANCE if is_single else DOUBLE_TOLERANCE for is_single in kinds])


def _judged(gaps: _Floats, scale: _Floats, tolerances: _Floats) -> tuple[bool, float]:
    """Whether each gap is within its tolerance, and the largest one in terms of its scale."""
    relative = np.divide(gaps, scale, out=np.zeros_like(gaps), where=gaps > 0)
    return bool((relative <= tolerances).all()), float(relative.max(initial=0.0))


def _compared(kinds: Kinds, a: _Values, b: _Values) -> tuple[bool, float]:
    tolerances = _tolerances(kinds)
    floors = SMALL * np.maximum(np.abs(a.values).max(axis=0), np.abs(b.values).max(axis=0))
    agree, largest = True, 0.0
    for column, (tolerance, floor) in enumerate(zip(tolerances, floors, strict=True)):
        one, two = (side.values[np.lexsort((side.values[:, column], side.keys)), column] for side in (a, b))
        scale = np.maximum(np.maximum(np.abs(one), np.abs(two)), floor)
        with np.errstate(over="ignore"):  # values of opposite signs near the largest double
            within, difference = _judged(np.abs(one - two), scale, tolerance)
        agree, largest = agree and within, max(largest, difference)
    if agree and len(kinds) > 1:
        agree = _same_clusters(a, b, tolerances, floors)
    return agree, largest


def _same_clusters(a: _Values, b: _Values, tolerances: _Floats, floors: _Floats) -> bool:
    """Whether both have the same rows, each value taken for the cluster that it is in."""
    keys = np.concatenate((a.keys, b.keys))
    both = np.concatenate((a.values, b.values))
    clusters = np.empty(both.shape, dtype=np.int64)
    for column, (tolerance, floor) in enumerate(zip(tolerances, floors, strict=True)):
        order = np.lexsort((both[:, column], keys))
        sorted_ = both[order, column]
        scale = np.maximum(np.maximum(np.abs(sorted_[1:]), np.abs(sorted_[:-1])), floor)
        with np.errstate(over="ignore"):
            is_new = (np.diff(sorted_) > tolerance * scale) | (np.diff(keys[order].view(np.int64)) != 0)
        clusters[order, column] = np.concatenate(([0], np.cumsum(is_new)))
    rows = np.column_stack((keys.view(np.int64), clusters))
    mine, theirs = rows[: len(a.keys)], rows[len(a.keys) :]
    return bool((mine[np.lexsort(mine.T)] == theirs[np.lexsort(theirs.T)]).all())
