"""Own and inclusive time of every node in some transactions, as dense tables of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tare.protocol.profile.measured import Floats, Ints, Measured, Small
from tare.protocol.profile.tree import Tree

_MOST_VALUES = 1 << 21
"""In one table: 16 MiB."""

MOST_ROWS = 1 << 15


@dataclass(frozen=True, eq=False)
class Chunk:
    """Whole ns, held as float64: exact below 2^53 ns (104 days)."""

    rows: Ints  # transactions
    own: Floats  # by transaction and node
    inclusive: Floats


@dataclass(frozen=True, eq=False)
class Times:
    measured: Measured
    tree: Tree

    @cached_property
    def _node(self) -> Small:
        return self.tree.node_of_path[self.measured.cell_path]

    @cached_property
    def _first(self) -> Ints:
        """Cell of each transaction, and one past the last."""
        many = np.bincount(self.measured.cell_transaction, minlength=self.measured.transactions)
        return np.concatenate([[0], np.cumsum(many)])

    @property
    def most_rows(self) -> int:
        """Largest number of rows of a chunk."""
        return max(1, min(MOST_ROWS, _MOST_VALUES // len(self.tree)))

    def chunks(self, rows: Ints, at_once: int | None = None) -> Iterator[Chunk]:
        """Yield chunks of these transactions, in this order; `at_once`: in a chunk, at most `most_rows`."""
        size = at_once or self.most_rows
        for begin in range(0, len(rows), size):
            yield self._chunk(rows[begin : begin + size])

    def _chunk(self, rows: Ints) -> Chunk:
        begins, ends = self._first[rows], self._first[rows + 1]
        many = ends - begins
        local = np.repeat(np.arange(len(rows)), many)
        before = np.cumsum(many) - many
        cells = np.arange(len(local)) + np.repeat(begins - before, many)
        width = len(self.tree)
        place = local * width + self._node[cells]

        def dense(values: Small) -> Floats:
            # two paths may be one node: they are added, not overwritten
            flat = np.bincount(place, weights=values[cells], minlength=len(rows) * width)
            return flat.reshape(len(rows), width).astype(np.float64, copy=False)

        return Chunk(rows, dense(self.measured.own_ns), dense(self.measured.inclusive_ns))

    @cached_property
    def own_mean(self) -> Floats:
        """Per transaction, by node."""
        return np.asarray(self.means(self.measured.own_ns)[0])

    @cached_property
    def inclusive_mean(self) -> Floats:
        return np.asarray(self.means(self.measured.inclusive_ns)[0])

    def means(self, values: Small, groups: Ints | None = None) -> Floats:
        """Per transaction, by group of transactions and node; one group where none are given."""
        width = len(self.tree)
        counts = np.array([self.measured.transactions]) if groups is None else np.bincount(groups)
        sums = np.zeros(len(counts) * width)
        for begin in range(0, len(values), _MOST_VALUES):
            some = slice(begin, begin + _MOST_VALUES)
            place = self._node[some].astype(np.int64)
            if groups is not None:
                place += groups[self.measured.cell_transaction[some]] * width
            sums += np.bincount(place, weights=values[some], minlength=len(sums))
        return sums.reshape(len(counts), width) / counts[:, None]
