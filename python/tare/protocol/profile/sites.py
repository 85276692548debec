"""The call sites of a node, apart (the paper's os_event_wait [A] and [B])."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np

from tare.protocol.profile.found import Site
from tare.protocol.profile.measured import Floats, Function, Ints, Measured
from tare.protocol.profile.tree import Tree

_LOW = (1 << 32) - 1  # a site is told by its low 32 bits


class Callers:
    """Names of code addresses, by the functions that are known. The object that has most of them is taken for the
    program: a site beneath the transaction itself is looked for there."""

    def __init__(self, functions: Iterable[Function]) -> None:
        self._by_object: dict[str, list[tuple[int, int, str]]] = {}
        for one in functions:
            if one.size:
                self._by_object.setdefault(one.object, []).append((one.address & _LOW, one.size, one.name))
        for known in self._by_object.values():
            known.sort()
        self.program = max(self._by_object, key=lambda one: len(self._by_object[one]), default="")

    def at(self, site: int, object_: str) -> str:
        """Return a place like "heap_update+0x1f4"; empty where no function covers it."""
        known = self._by_object.get(object_, [])
        place = bisect_right(known, site, key=lambda one: one[0])
        if not place:
            return ""
        address, size, name = known[place - 1]
        # A return address may be the first one past a function that ends with a call.
        return f"{name}+{site - address:#x}" if 0 < site - address <= size else ""


def sites_of(
    measured: Measured, tree: Tree, groups: Ints, variances: Floats, total: float, calls: Floats
) -> list[tuple[Site, ...]]:
    """By node. `groups`: of each transaction, whose means are taken out; `variances`: of each node's inclusive time,
    which is its site's where it has only one."""
    callers = Callers(measured.functions.values())
    apart = _apart(measured, tree, groups)
    found: list[tuple[Site, ...]] = []
    for node, sites in enumerate(tree.sites):
        if tree.function[node] is None:
            found.append(())
            continue
        above = tree.function[tree.parent[node]]
        caller = measured.functions.get(above) if above is not None else None
        object_ = caller.object if caller else callers.program
        single = {sites[0]: (calls[node], variances[node])}
        of = apart if len(sites) > 1 else {(node, site): figures for site, figures in single.items()}
        found.append(
            tuple(
                Site(
                    site,
                    callers.at(site, object_),
                    float(of[node, site][0]),
                    float(of[node, site][1] / total),
                )
                for site in sites
            )
        )
    return found


def _apart(measured: Measured, tree: Tree, groups: Ints) -> dict[tuple[int, int], tuple[float, float]]:
    """Calls per transaction and Var(inclusive), of each node's each site, where it has several."""
    number: dict[tuple[int, int], int] = {}
    of_path = np.full(len(measured.paths), -1, dtype=np.int64)
    for path, node in enumerate(tree.node_of_path):
        if node >= 0 and len(tree.sites[node]) > 1:
            of_path[path] = number.setdefault((int(node), measured.paths[path].site), len(number))
    if not number:
        return {}
    many = len(number)
    cells = np.flatnonzero(of_path[measured.cell_path] >= 0)
    site = of_path[measured.cell_path[cells]]
    calls = np.bincount(site, weights=measured.calls[cells], minlength=many) / measured.transactions
    # a site may be reached by several paths: their times in one transaction are one
    both, place = np.unique(
        measured.cell_transaction[cells].astype(np.int64) * many + site, return_inverse=True
    )
    times = np.bincount(place.reshape(-1), weights=measured.inclusive_ns[cells])
    transaction, site = np.divmod(both, many)

    counts = np.bincount(groups)
    width = len(counts)
    slot = site * width + groups[transaction]
    size = many * width
    means = np.bincount(slot, weights=times, minlength=size) / np.tile(counts, many)
    gone = np.tile(counts, many) - np.bincount(slot, minlength=size)
    squares = np.bincount(slot, weights=(times - means[slot]) ** 2, minlength=size) + gone * means**2
    freedom = measured.transactions - width
    variances = squares.reshape(many, width).sum(axis=1) / freedom
    return {key: (float(calls[n]), float(variances[n])) for key, n in number.items()}
