"""The variance tree's shape (§3.2, Fig. 1): call paths, their call sites put together, in depth-first order.

A node is a function as called from another node. Calls from several sites of one node are one node: their times are
added in each transaction before anything is squared, so that their covariance is in it. Each site is kept beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tare.protocol.profile.measured import ROOT, WAITING, Measured, Small


@dataclass(frozen=True, eq=False)
class Tree:
    """Node 0 is the transaction; a node's descendants follow it."""

    function: tuple[int | None, ...]  # None: the transaction, or waiting
    parent: tuple[int, ...]  # -1: of the transaction
    depth: tuple[int, ...]
    names: tuple[str, ...]
    waiting: int | None  # the node of it, if any transaction waited
    node_of_path: Small  # -1: no transaction went it
    sites: tuple[tuple[int, ...], ...]  # of each node, ascending

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.parent]
        for node in range(1, len(self)):
            found[self.parent[node]].append(node)
        return tuple(map(tuple, found))

    def ancestors(self, node: int) -> Iterator[int]:
        while (node := self.parent[node]) >= 0:
            yield node

    @cached_property
    def outermost(self) -> tuple[bool, ...]:
        """Whether no node above is of the same function: else its time is in that one's already."""
        return tuple(
            function is None or all(self.function[above] != function for above in self.ancestors(node))
            for node, function in enumerate(self.function)
        )

    def heights(self, measured: Measured) -> tuple[int | None, ...]:
        """Of each node's function in the static call graph; where it is not in it, one more than that of the
        highest function seen beneath it. None for the transaction and for waiting."""
        known: dict[int, int] = {}
        for one in {one for one in self.function if one is not None}:
            height = measured.functions[one].height if one in measured.functions else None
            if height is not None:
                known[one] = height
        seen = [0] * len(self)  # of what is beneath, by node
        beneath: dict[int, int] = {}
        for node in reversed(range(1, len(self))):
            function = self.function[node]
            if function is None:
                continue
            here = known.get(function, seen[node])
            beneath[function] = max(beneath.get(function, 0), here)
            seen[self.parent[node]] = max(seen[self.parent[node]], here + 1)
        return tuple(
            None if function is None else known.get(function, beneath.get(function, 0))
            for function in self.function
        )


def tree_of(measured: Measured) -> Tree:
    """Of the paths that some transaction went, and those above them."""
    parents = _parents(measured)
    gone = set(np.unique(measured.cell_path).tolist()) | {ROOT}
    for path in tuple(gone):
        while (above := parents[path]) >= 0 and above not in gone:
            gone.add(above)
            path = above
    below: dict[int, list[int]] = {}
    for path in sorted(gone - {ROOT}):
        below.setdefault(parents[path], []).append(path)

    function: list[int | None] = []
    parent: list[int] = []
    depth: list[int] = []
    sites: list[tuple[int, ...]] = []
    names: list[str] = []
    node_of_path = np.full(len(measured.paths), -1, dtype=np.int32)
    waiting: int | None = None
    stack: list[tuple[list[int], int, int]] = [([ROOT], -1, 0)]  # paths of one node, its parent, its depth
    while stack:
        paths, above, deep = stack.pop()
        node = len(parent)
        parent.append(above)
        depth.append(deep)
        function.append(measured.paths[paths[0]].function)
        names.append(measured.name(paths[0]))
        sites.append(tuple(sorted({measured.paths[path].site for path in paths})))
        node_of_path[paths] = node
        if WAITING in paths:
            waiting = node
        grouped: dict[int | None, list[int]] = {}
        for path in paths:
            for child in below.get(path, ()):
                grouped.setdefault(measured.paths[child].function, []).append(child)
        stack.extend((group, node, deep + 1) for group in reversed(grouped.values()))
    return Tree(
        tuple(function),
        tuple(parent),
        tuple(depth),
        tuple(names),
        waiting,
        node_of_path,
        tuple(sites),
    )


def _parents(measured: Measured) -> list[int]:
    """Of each path; -1: of the root. A path without one hangs from the root."""
    return [
        -1 if path == ROOT else ROOT if one.parent is None else one.parent
        for path, one in enumerate(measured.paths)
    ]
