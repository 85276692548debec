"""Rounds to given functions: of the refinement, and of a naive profiler that divides all (§7.6, Fig. 5 right)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tare.protocol.profile.found import Node
from tare.protocol.profile.refinement import Callees, CallGraph, Costs, plan
from tare.protocol.profile.shares import TRANSACTION, WORTH_DIVIDING, coarsened


def naive_rounds(
    graph: CallGraph, sources: Collection[int], costs: Costs, budget: float, most: int | None = None
) -> int | None:
    """Rounds until breadth-first decomposition of everything has watched all `sources`, each round as many of the next
    functions as the budget (and `most`) allows, at least one. None: they are not in the call graph.

    The paper's naive profiler (§7.6) breaks down each path of the call tree anew; this one looks at each function once,
    and so needs fewer."""
    missing = set(sources)
    rounds = taken = 0
    left = 0.0
    for function in _breadth_first(graph.callees) if missing else ():
        cost = costs.of(function)
        if rounds == 0 or cost > left or taken == most:
            rounds, taken, left = rounds + 1, 0, budget
        taken += 1
        left -= cost
        missing.discard(function)
        if not missing:
            break  # the rest of a large program is not looked through
    return None if missing else rounds


def _breadth_first(callees: Callees) -> Iterator[int]:
    seen: set[int] = set()
    level: Sequence[int] = tuple(callees.get(TRANSACTION, ()))
    while level:
        new = [one for one in dict.fromkeys(level) if one not in seen]
        seen.update(new)
        yield from new
        level = [callee for function in new for callee in callees.get(function, ())]


def guided_rounds(
    nodes: Sequence[Node],
    graph: CallGraph,
    sources: Collection[int],
    costs: Costs,
    budget: float,
    floor: float = WORTH_DIVIDING,
) -> int | None:
    """Rounds until `plan` has watched all `sources`, on a tree that is known in full. None: it ends before."""
    watched: tuple[int, ...] = ()
    seen: set[int] = set()
    rounds = 0
    while not set(sources) <= seen:
        one = plan(coarsened(nodes, watched), graph, watched, seen, costs, budget, floor)
        if one.ends:
            return None
        watched = one.watch
        seen.update(one.added)
        rounds += 1
    return rounds
