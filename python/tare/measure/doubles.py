"""Binary floating-point values of an answer, compared by relative tolerance whatever the order of rows.

Each value belongs to a key: the rest of its row, which is exact, and its place in the row. Two answers with equal
keys are compared key by key. Within a key the values are compared in ascending order: if every value moved by at
most a relative difference, so did each in that order, so rows that are equal but for doubles need no partner.

Up to `KEPT` values are kept, 16 bytes each. An answer with more is kept as a histogram of fixed size over the
line of doubles, on which a step is a unit in the last place. A value gives its weight to the two ends of the cell
that it lies in, by its distance from them: a value that moves a little moves a little weight, also across an edge.
Sums are of integers, so their order is of no account.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

TOLERANCE = 1e-9
"""Relative difference up to which two doubles count as equal. Sums in another order differ by some 1e-16 times the
square root of the number of their terms; a digit that is wrong in the eighth place differs by ten times more."""

KEPT = 1 << 18

_CELL = 1 << 36  # steps: 65,536 cells between a power of two and the next
_SLOTS = 1 << 16
_STEPS = 1 << 53  # in a relative difference of 1, at most
_EACH = 1e-12  # relative difference that each of many values in one slot may have
_PLACE = 0x9E3779B97F4A7C15  # odd: keys of a row's places differ
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Apart:
    """Largest relative difference between two answers' doubles. `values`: the pair that has it, where it is known."""

    relative: float
    values: tuple[float, float] | None = None


class Doubles:
    def __init__(self) -> None:
        self._keys = array("Q")
        self._values = array("d")
        self._histogram: Histogram | None = None

    def __len__(self) -> int:
        return self._histogram.values if self._histogram else len(self._values)

    def add(self, key: int, values: Sequence[float]) -> None:
        """Takes the doubles of a row; `key` has 64 bits."""
        keys = [key ^ (place * _PLACE & _MASK) for place in range(len(values))]
        if self._histogram is None and len(self._values) + len(values) > KEPT:
            self._histogram = Histogram(zip(self._keys, self._values, strict=True))
            self._keys, self._values = array("Q"), array("d")
        if self._histogram is not None:
            self._histogram.add(zip(keys, values, strict=True))
            return
        self._keys.extend(keys)
        self._values.extend(values)

    def sort(self) -> None:
        """Call once, when all rows are taken."""
        pairs = sorted(zip(self._keys, self._values, strict=True))
        self._keys = array("Q", (key for key, _ in pairs))
        self._values = array("d", (value for _, value in pairs))

    def apart(self, other: Doubles) -> Apart:
        """How far two answers with the same keys are apart; zero where no value differs."""
        if self._histogram is not None and other._histogram is not None:
            return Apart(self._histogram.apart(other._histogram))
        largest = Apart(0.0)
        for pair in zip(self._values, other._values, strict=True):
            if (difference := relative(*pair)) > largest.relative:
                largest = Apart(difference, pair)
        return largest


class Histogram:
    """Weights in slots; which slot a cell's end belongs to follows from the value's key."""

    def __init__(self, values: Iterable[tuple[int, float]]) -> None:
        self.values = 0
        self._weights = [0] * _SLOTS
        self._counts = array("I", bytes(4 * _SLOTS))
        self.add(values)

    def add(self, values: Iterable[tuple[int, float]]) -> None:
        for key, value in values:
            self.values += 1
            cell, within = divmod(position(value), _CELL)
            for end, weight in ((cell, _CELL - within), (cell + 1, within)):
                slot = hash((key, end)) % _SLOTS
                self._weights[slot] += weight
                self._counts[slot] += 1

    def apart(self, other: Histogram) -> float:
        """Estimate from the slot that differs most, less what many small differences may add up to there.

        Exact for a lone value that differs. Values that differ in one slot add up, or cancel out."""
        return max(self._excesses(other), default=0.0)

    def _excesses(self, other: Histogram) -> Iterator[float]:
        for mine, theirs, count in zip(self._weights, other._weights, self._counts, strict=True):
            if mine != theirs:
                moved = abs(mine - theirs) / _STEPS * 2
                yield moved if moved <= TOLERANCE else max(TOLERANCE, moved - count * _EACH)


def position(value: float) -> int:
    """Place of a finite double on the line of all doubles, in steps from zero."""
    steps: int = struct.unpack("<q", struct.pack("<d", abs(value)))[0]
    return -steps if value < 0 else steps


def relative(a: float, b: float) -> float:
    return 0.0 if a == b else min(2.0, abs(a / 2 - b / 2) / max(abs(a), abs(b)) * 2)
