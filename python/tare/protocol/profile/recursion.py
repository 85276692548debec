"""Recursion folded: a function beneath itself (f → g → f) is one path, with how deep it went.

In the folded tree no path has two calls of one function. Own times are added. A path's inclusive time is what is left
of it without the calls from it that return to a path above: with f → g → f, g is without the inner f, whose time is f's
own or that of what f calls. So a path's inclusive time is still its own time and that of its children (equation 1), and
no time counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tare.protocol.profile.measured import ROOT, Ints, Measured, Path, Small


def folded(measured: Measured) -> Measured:
    """The same transactions; without recursion, the same object."""
    shape = _Shape(measured.paths)
    if not shape.repeats:
        return measured
    inclusive = measured.inclusive_ns.copy()
    at = _Places(measured)
    for path in shape.repeats:
        cells = np.flatnonzero(measured.cell_path == path)
        for above in shape.left(path):
            place, known = at.find(measured.cell_transaction[cells], above)
            np.subtract.at(inclusive, place[known], measured.inclusive_ns[cells[known]])
    inclusive[np.isin(measured.cell_path, list(shape.repeats))] = 0
    target = np.array(shape.target, dtype=np.int32)
    return replace(
        measured,
        paths=tuple(shape.paths),
        cell_path=target[measured.cell_path],
        inclusive_ns=inclusive,
    )


@dataclass(eq=False)
class _Shape:
    """Tree in which recursion is folded, and the place in it of each raw path."""

    raw: Sequence[Path]  # callers first
    paths: list[Path] = field(default_factory=list)
    target: list[int] = field(default_factory=list)  # of each raw path, its place in `paths`
    outer: list[int] = field(
        default_factory=list
    )  # the nearest raw path above it that goes there too; -1: none
    repeats: set[int] = field(default_factory=set)  # raw paths that return to a path above them

    def __post_init__(self) -> None:
        known: dict[tuple[int, int | None, int], int] = {}
        deep: list[int] = []
        for number, one in enumerate(self.raw):
            above = self._above(number)
            parent = self.target[above] if above >= 0 else None
            place = self._same(parent, one.function)
            if place is not None:
                self.repeats.add(number)
            elif one.function is None or parent is None:  # the transaction, and waiting
                place = self._add(Path(parent, one.function, one.site))
            else:
                key = (parent, one.function, one.site)
                place = known.get(key)
                if place is None:
                    place = known[key] = self._add(Path(parent, one.function, one.site))
            self.target.append(place)
            while above >= 0 and self.target[above] != place:
                above = self._above(above)
            self.outer.append(above)
            deep.append(1 + (deep[above] if above >= 0 else 0))
            if deep[number] > self.paths[place].recursion:
                self.paths[place] = replace(self.paths[place], recursion=deep[number])

    def left(self, path: int) -> list[int]:
        """Raw paths whose inclusive time is without that of this path, which returns to one above them."""
        found = []
        above = self._above(path)
        while self.target[above] != self.target[path]:
            if above in self.repeats:  # all below it is gone from what lies between already
                above = self.outer[above]
            else:
                found.append(above)
                above = self._above(above)
        return found

    def _above(self, path: int) -> int:
        parent = self.raw[path].parent
        return -1 if path == ROOT else ROOT if parent is None else parent

    def _add(self, path: Path) -> int:
        self.paths.append(path)
        return len(self.paths) - 1

    def _same(self, place: int | None, function: int | None) -> int | None:
        """This path or one above it, if it is of the function."""
        while place is not None and function is not None:
            if self.paths[place].function == function:
                return place
            place = self.paths[place].parent
        return None


class _Places:
    """Cells by transaction and path."""

    def __init__(self, measured: Measured) -> None:
        self._many = len(measured.paths)
        keys = measured.cell_transaction.astype(np.int64) * self._many + measured.cell_path
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def find(self, transactions: Small, path: int) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Return each transaction's cell, and whether there is one."""
        keys = transactions.astype(np.int64) * self._many + path
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return self._order[place], self._keys[place] == keys
