"""Shares of functions in Var(T) by their own time, as refinement reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tare.protocol.profile.found import Findings, Node

TRANSACTION = -1
"""In place of a function: the transaction itself, whose callees are the functions at its top."""

WAITING = -2
"""Waiting between intervals, which nothing divides."""

WORTH_DIVIDING = 0.05
"""Own share from which a function's callees are looked at."""

NEGLIGIBLE = 0.01
"""Share, own or with all beneath it, below which a function may give way to another."""


def own_shares(findings: Findings) -> dict[int, float]:
    """Cov(own, T) / Var(T) of every function in the findings, over all its paths."""
    return _added(findings.nodes, {node.path: _key(node) for node in findings.nodes})


def coarsened(nodes: Sequence[Node], watched: Collection[int]) -> dict[int, float]:
    """Return the own shares with fewer functions watched: the own time of a node that is not watched belongs to the
    nearest one above it that is."""
    seen: dict[int, int] = {}
    for node in nodes:  # parents come first
        key = _key(node)
        seen[node.path] = key if key < 0 or key in watched or node.parent is None else seen[node.parent]
    return _added(nodes, seen)


def _key(node: Node) -> int:
    if node.function is not None:
        return node.function
    return TRANSACTION if node.parent is None else WAITING


def _added(nodes: Sequence[Node], keys: Mapping[int, int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for node in nodes:
        key = keys[node.path]
        found[key] = found.get(key, 0.0) + node.own_covariance.value
    return found


def at_or_beneath(findings: Findings, functions: Collection[int]) -> set[int]:
    """Functions that were seen nowhere else than at or beneath one of these."""
    within: dict[int, bool] = {}
    found: dict[int, bool] = {}
    for node in findings.nodes:  # parents come first
        here = node.function in functions or (node.parent is not None and within[node.parent])
        within[node.path] = here
        if node.function is not None:
            found[node.function] = here and found.get(node.function, True)
    return {function for function, everywhere in found.items() if everywhere}


def kept_above(findings: Findings, own: Mapping[int, float]) -> dict[int, float]:
    """Own shares, in which no function gives way that has a part of the variance beneath it: a wait without those who
    wait in it says little (ProcSleep is for locks, the WaitLatch that it calls for anything)."""
    found = dict(own)
    for node in findings.nodes:
        function = node.function
        if (
            function is not None
            and node.covariance >= NEGLIGIBLE
            and abs(found.get(function, 0.0)) < NEGLIGIBLE
        ):
            found[function] = NEGLIGIBLE
    return found
