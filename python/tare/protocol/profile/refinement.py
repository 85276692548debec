"""Functions that the next round watches (§3.1): those beneath the own times that vary most, as far as the budget goes.

What a function's own time shares in Var(T) is either in its body or in callees that are not watched; to watch these
tells which. So a callee's worth is the own share of its watched callers × its specificity (equation 2), and callees are
taken by worth per cost until the budget is spent; a cost is calls per transaction × the price of an entry and exit.
Functions whose share is next to nothing give way first: the time they took is then their callers' again.

It ends where one body dominates: its share is above that of all functions together that could yet be divided. A larger
source can then hide in none of them, unless what they call cancels out. Waiting for the client ends nothing, however
much of the variance it has: what the server itself varies by is still to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tare.protocol.profile.factors import specificity_of
from tare.protocol.profile.shares import NEGLIGIBLE, WAITING, WORTH_DIVIDING

Callees = Mapping[int, Collection[int]]
"""Callees by the static call graph and by what was seen; of TRANSACTION, the functions at the top."""


@dataclass(frozen=True, slots=True)
class Costs:
    calls: Mapping[int, float]  # per transaction; 0: was counted and never called, or not counted
    pair_ns: float  # an entry and exit
    own_ns: float  # the time that a transaction has without probes (`tare.protocol.profile.overhead.own_ns`)
    weight: Callable[[int], float] = lambda _: 1.0  # of a function: how many usual pairs one of its costs

    def of(self, function: int) -> float:
        """Share of the time that a transaction has."""
        return self.pairs(function) * self.pair_ns / self.own_ns

    def pairs(self, function: int) -> float:
        """Per transaction, of the usual price."""
        return self.calls.get(function, 0.0) * self.weight(function)

    def predicted(self, functions: Collection[int]) -> float:
        return sum(self.of(one) for one in functions)


@dataclass(frozen=True, slots=True)
class CallGraph:
    callees: Callees
    heights: Mapping[int, int]  # of functions; one that is not in it has height 0
    height: int

    def specificity(self, function: int) -> float:
        return specificity_of(self.heights.get(function, 0), self.height)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that is not watched, beneath one whose own time matters."""

    function: int
    beneath: tuple[int, ...]  # watched callers worth dividing, the largest first
    worth: float  # own share of these × specificity


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of the next round. `ends`: there is nothing to watch that was not watched; `why` says why."""

    watch: tuple[int, ...]
    added: tuple[int, ...] = ()  # the most telling first
    dropped: tuple[int, ...] = ()
    divided: tuple[int, ...] = ()  # whose callees were added; TRANSACTION may be among them
    too_hot: tuple[int, ...] = ()  # candidates that found no room in the budget
    predicted: float = 0.0  # overhead of `watch`, share of a transaction's mean duration
    ends: str | None = None  # "dominated", "nothing left", "budget"
    source: int | None = None  # whose body dominates


def candidates(
    own: Mapping[int, float], graph: CallGraph, seen: Collection[int], floor: float = WORTH_DIVIDING
) -> list[Candidate]:
    """By worth, largest first. `seen`: functions that are watched, were watched before, or cannot be. Their calls are
    to be counted before a plan is made."""
    beneath: dict[int, list[int]] = {}
    for function in sorted(own, key=lambda one: (-own[one], one)):
        if own[function] >= floor:
            for callee in graph.callees.get(function, ()):
                if callee not in seen and callee != function:
                    beneath.setdefault(callee, []).append(function)
    found = [
        Candidate(callee, tuple(callers), sum(own[one] for one in callers) * graph.specificity(callee))
        for callee, callers in beneath.items()
    ]
    return sorted(found, key=lambda one: (-one.worth, one.function))


def plan(
    own: Mapping[int, float],
    graph: CallGraph,
    watched: Collection[int],
    seen: Collection[int],
    costs: Costs,
    budget: float,
    floor: float = WORTH_DIVIDING,
    *,
    first: Sequence[int] = (),
) -> Plan:
    """`seen`: as for `candidates`; `first`: candidates that are taken before all others, whatever their worth, the
    cheapest of them first. The overhead of what is watched is predicted to be within the budget wherever that of
    `watched` was."""
    called = [one for one in candidates(own, graph, seen, floor) if costs.of(one.function) > 0]
    watch = dict.fromkeys(watched)
    now = costs.predicted(watch)
    dividable = {caller for one in called for caller in one.beneath}
    if (source := _dominating(own, dividable)) is not None:
        return Plan(tuple(watch), predicted=now, ends="dominated", source=source)
    if not called:
        return Plan(tuple(watch), predicted=now, ends="nothing left")

    spare = sorted(
        (one for one in watch if abs(own.get(one, 0.0)) < NEGLIGIBLE), key=lambda one: (costs.of(one), one)
    )
    room = budget - now + costs.predicted(spare)  # if all that may give way did
    added: list[Candidate] = []
    too_hot: list[Candidate] = []
    places = {one: place for place, one in enumerate(first)}

    def order(one: Candidate) -> tuple[bool, float, int]:
        if one.function in places:
            return False, costs.of(one.function), places[one.function]
        return True, -one.worth / costs.of(one.function), one.function

    for one in sorted(called, key=order):
        if costs.of(one.function) <= room:
            added.append(one)
            room -= costs.of(one.function)
        else:
            too_hot.append(one)
    if not added:
        return Plan(
            tuple(watch), too_hot=tuple(one.function for one in too_hot), predicted=now, ends="budget"
        )
    total = now + costs.predicted([one.function for one in added])
    dropped = []
    while total > budget and spare:
        dropped.append(spare.pop())  # the costliest first
        total -= costs.of(dropped[-1])
        del watch[dropped[-1]]
    added.sort(key=lambda one: (-one.worth, one.function))
    new = tuple(one.function for one in added)
    kept = (*watch, *new)
    return Plan(
        watch=kept,
        added=new,
        dropped=tuple(dropped),
        divided=tuple(sorted({caller for one in added for caller in one.beneath}, key=lambda one: -own[one])),
        too_hot=tuple(one.function for one in too_hot),
        predicted=costs.predicted(kept),
    )


def _dominating(own: Mapping[int, float], dividable: Collection[int]) -> int | None:
    """A function that nothing divides further, and whose own share is above that of all that could be divided."""
    whole = {one: share for one, share in own.items() if one not in dividable and one != WAITING}
    if not whole:
        return None
    source = max(whole, key=lambda one: (whole[one], one))
    rest = sum(max(own[one], 0.0) for one in dividable)
    return source if whole[source] >= WORTH_DIVIDING and whole[source] > rest else None
