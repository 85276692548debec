"""Rounds that a strategy would have taken which divides everything, level after level (§7.6): to stand beside ours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tare.protocol.profile import rounds
from tare.protocol.profile.refinement import CallGraph, Costs

UNCOUNTED = 1.0
"""Calls per transaction of a function that nobody counted, where a naive strategy is priced: most functions are called
never, some a hundred times."""

UNREAD = 1.0
"""Weight of such a function: its code is not read for the sake of a round that nobody makes."""

MOST_NAIVE = 100
"""Functions in a round of it (the paper's §7.6 goes up to a hundred)."""


def naive_rounds(
    callees: Callable[[int], Sequence[int]], sources: Collection[int], costs: Costs, budget: float
) -> int | None:
    """To the same functions under the same budget. `callees`: of a function, or of TRANSACTION. None: there is no way
    to them by calls that are known."""
    graph = CallGraph(_AllCallees(callees), {}, 0)
    priced = replace(
        costs,
        calls=_Assumed(costs.calls),
        weight=lambda one: costs.weight(one) if one in costs.calls else UNREAD,
    )
    return rounds.naive_rounds(graph, sources, priced, budget, MOST_NAIVE)


class _AllCallees(Mapping[int, Collection[int]]):
    """Callees of any function, found at their first use."""

    def __init__(self, callees: Callable[[int], Sequence[int]]) -> None:
        self._callees = callees

    def __getitem__(self, function: int) -> Collection[int]:
        return self._callees(function)

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("functions are asked for one by one")

    def __len__(self) -> int:
        raise NotImplementedError("functions are asked for one by one")


class _Assumed(dict[int, float]):
    """Calls per transaction, with UNCOUNTED for what was not counted."""

    def get(self, function: int, otherwise: float | None = None) -> float:  # type: ignore[override]
        return super().get(function, UNCOUNTED)
