"""The variance tree's shape (§3.2, Fig. 1): call paths, their call sites put together, in depth-first order.

A node is a function as called from another node. Calls from several sites of one node are one node: their times are
added in each transaction before anything is squared, so that their covariance is in it. Each site is kept beside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
    recursion: tuple[int, ...]  # of each node: see `Path.recursion`

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

    def heights(self, measured: Measured) -> tuple[int | None, ...]:
        """Return the height of each node's function in the call graph, by static calls and those that were seen. A
        function is higher than all that was seen beneath it, though its binary calls them by pointer. Functions that
        were seen to call each other are as high as the highest of them. None for the transaction and for waiting."""
        known = {
            one: (measured.functions[one].height if one in measured.functions else None) or 0
            for one in self.function
            if one is not None
        }
        callees: dict[int, set[int]] = {one: set() for one in known}
        for node in range(1, len(self)):
            caller, callee = self.function[self.parent[node]], self.function[node]
            if caller is not None and callee is not None and caller != callee:
                callees[caller].add(callee)
        found: dict[int, int] = {}
        for together in cycles(callees):
            beneath = [found[callee] + 1 for one in together for callee in callees[one] - together]
            height = max([known[one] for one in together] + beneath)
            found.update(dict.fromkeys(together, height))
        return tuple(None if one is None else found[one] for one in self.function)


def cycles(callees: Mapping[int, Collection[int]]) -> Iterator[set[int]]:
    """Functions that call each other, directly or not, together; each after all that it calls. (Tarjan, "Depth-first
    search and linear graph algorithms", SIAM Journal on Computing 1, 1972.)"""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: dict[int, None] = {}
    for start in callees:
        work = [(start, iter(callees[start]))] if start not in number else []
        while work:
            one, rest = work[-1]
            if one not in number:
                number[one] = lowest[one] = len(number)
                open_[one] = None
            callee = next(rest, None)
            if callee is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[one])
                if lowest[one] == number[one]:
                    together = set()
                    while one not in together:
                        together.add(open_.popitem()[0])
                    yield together
            elif callee not in number:
                work.append((callee, iter(callees[callee])))
            elif callee in open_:
                lowest[one] = min(lowest[one], number[callee])


def tree_of(measured: Measured) -> Tree:
    """Return the tree of the paths that some transaction took, and of those above them."""
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
    recursion: list[int] = []
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
        recursion.append(max(measured.paths[path].recursion for path in paths))
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
        tuple(recursion),
    )


def _parents(measured: Measured) -> list[int]:
    """Return the parent of each path; -1: the root. A path without one hangs from the root."""
    return [
        -1 if path == ROOT else ROOT if one.parent is None else one.parent
        for path, one in enumerate(measured.paths)
    ]
