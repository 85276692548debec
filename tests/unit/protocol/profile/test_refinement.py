"""Rounds of refinement, on call graphs where the source is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Node
from tare.protocol.profile.refinement import CallGraph, Costs, candidates, plan
from tare.protocol.profile.rounds import guided_rounds, naive_rounds
from tare.protocol.profile.shares import TRANSACTION, WAITING, coarsened, own_shares
from tests.unit.protocol.profile import made as m

MEAN = 1_000_000.0
CHEAP = Costs(dict.fromkeys(range(1, 400), 1.0), 50.0, MEAN)


def costs(calls: Mapping[int, float]) -> Costs:
    return Costs(calls, 50.0, MEAN)


def graph(callees: Mapping[int, tuple[int, ...]]) -> CallGraph:
    """With heights as the paper's: of the deepest chain beneath."""

    def height(function: int) -> int:
        return 1 + max((height(one) for one in callees.get(function, ())), default=-1)

    functions = {one for callees_ in callees.values() for one in callees_}
    return CallGraph(callees, {one: height(one) for one in functions}, height(TRANSACTION))


CHAIN = graph({TRANSACTION: (1, 2), 1: (3, 4), 3: (5, 6)})


def test_beneath_the_largest_own_time_is_where_the_next_round_looks() -> None:
    own = {TRANSACTION: 0.02, 1: 0.7, 2: 0.28, 3: 0.0, 4: 0.0}
    found = candidates(own, graph({TRANSACTION: (1, 2), 1: (3, 4), 2: (5,), 5: (6,)}), seen={1, 2})
    assert [(one.function, one.beneath) for one in found] == [(3, (1,)), (4, (1,)), (5, (2,))]
    assert found[0].worth == pytest.approx(0.7 * 9)


def test_a_function_beneath_several_is_worth_what_they_are_together() -> None:
    own = {1: 0.3, 2: 0.3, 3: 0.02}
    (shared, single) = candidates(
        own, graph({TRANSACTION: (1, 2), 1: (4,), 2: (4, 5), 3: (6,)}), seen={1, 2, 3}
    )
    assert (shared.function, shared.beneath, single.function) == (4, (1, 2), 5)
    assert shared.worth == 2 * single.worth


def test_a_round_adds_what_is_beneath_and_says_what_it_divides() -> None:
    found = plan({TRANSACTION: 0.01, 1: 0.9, 2: 0.09}, CHAIN, [1, 2], {1, 2}, CHEAP, 0.05)
    assert found.ends is None
    assert (found.watch, set(found.added), found.divided) == ((1, 2, *found.added), {3, 4}, (1,))
    assert found.predicted == pytest.approx(4 * 50 / MEAN)


def test_it_ends_where_a_body_has_more_than_all_that_could_yet_be_divided() -> None:
    found = plan({TRANSACTION: 0.1, 1: 0.2, 5: 0.7}, CHAIN, [1, 5], {1, 2, 5}, CHEAP, 0.05)
    assert (found.ends, found.source, found.watch) == ("dominated", 5, (1, 5))


def test_a_body_goes_on_being_doubted_while_more_than_it_is_undivided() -> None:
    found = plan({TRANSACTION: 0.0, 1: 0.55, 5: 0.45}, CHAIN, [1, 5], {1, 2, 5}, CHEAP, 0.05)
    assert found.ends is None
    assert set(found.added) == {3, 4}


def test_waiting_for_the_client_ends_nothing_while_the_server_varies_by_itself() -> None:
    found = plan({TRANSACTION: 0.2, WAITING: 0.8}, CHAIN, [], set(), CHEAP, 0.05)
    assert (found.ends, set(found.added), found.divided) == (None, {1, 2}, (TRANSACTION,))
    little = plan({TRANSACTION: 0.04, WAITING: 0.96}, CHAIN, [], set(), CHEAP, 0.05)
    assert (little.ends, little.source) == ("nothing left", None)


def test_functions_that_nobody_calls_are_not_watched() -> None:
    found = plan({TRANSACTION: 0.9}, CHAIN, [], set(), costs({1: 1.0, 2: 0.0}), 0.05)
    assert found.added == (1,)
    none = plan({TRANSACTION: 0.04, 1: 0.03}, CHAIN, [1], {1}, CHEAP, 0.05)
    assert none.ends == "nothing left"


def test_a_function_too_hot_for_the_budget_is_passed_over_and_named() -> None:
    found = plan({TRANSACTION: 0.9}, CHAIN, [], set(), costs({1: 5_000.0, 2: 3.0}), 0.05)
    assert (found.added, found.too_hot) == ((2,), (1,))
    spent = plan({TRANSACTION: 0.9}, CHAIN, [], set(), costs({1: 5_000.0, 2: 3_000.0}), 0.05)
    assert (spent.ends, set(spent.too_hot)) == ("budget", {1, 2})


def test_a_function_that_has_no_part_gives_way_the_costliest_first() -> None:
    """Budget: 1000 calls; 900 are taken, 800 of them by a function whose own time never varies."""
    calls = costs({1: 50.0, 2: 800.0, 7: 50.0, 3: 400.0, 4: 50.0})
    found = plan({TRANSACTION: 0.01, 1: 0.98, 2: 0.005, 7: 0.001}, CHAIN, [1, 2, 7], {1, 2, 7}, calls, 0.05)
    assert set(found.added) == {3, 4}
    assert found.dropped == (2,)
    assert found.watch[:2] == (1, 7)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.integers(-1, 12), st.floats(-0.5, 1.5), min_size=1),
    st.dictionaries(st.integers(-1, 12), st.sets(st.integers(0, 30), max_size=6)),
    st.dictionaries(st.integers(0, 30), st.floats(0, 2_000)),
    st.sets(st.integers(0, 12)),
    st.floats(0.001, 0.5),
)
def test_no_plan_breaks_the_budget_or_watches_anything_twice(
    own: dict[int, float],
    callees: dict[int, set[int]],
    calls: dict[int, float],
    watched: set[int],
    budget: float,
) -> None:
    of = costs(calls)
    found = plan(own, CallGraph(callees, {}, 3), sorted(watched), watched, of, budget)
    assert len(found.watch) == len(set(found.watch))
    assert not set(found.added) & (watched | set(found.too_hot))
    assert set(found.watch) == (watched - set(found.dropped)) | set(found.added)
    assert found.predicted == pytest.approx(of.predicted(found.watch))
    if of.predicted(watched) <= budget:
        assert found.predicted <= budget * (1 + 1e-9)
    if found.ends:
        assert found.watch == tuple(sorted(watched))
    else:
        assert found.added
        assert found.divided
        assert all(own[one] > 0 for one in found.divided)


# On trees that are known in full ----------------------------------------------------------------
def planted(path: str, seed: int = 1) -> tuple[list[Node], CallGraph, int]:
    """A tree four deep, four functions to each; the one at `path` varies most. Its nodes, its graph, the source."""
    random = np.random.default_rng(seed)
    own = {}
    callees: dict[int, tuple[int, ...]] = {}
    levels = [[""]]
    for deep in range(4):
        levels.append([f"{above}/{n}".lstrip("/") for above in levels[-1] for n in _letters(above, deep)])
    for level in levels[1:]:
        for one in level:
            own[one] = random.integers(90, 110 if one != path else 4_000, 60)
    number = m.numbers(own)
    for level in levels[:-1]:
        for one in level:
            mine = number[one.rpartition("/")[2]] if one else TRANSACTION
            below = [n.rpartition("/")[2] for n in own if n.rpartition("/")[0] == one]
            callees[mine] = tuple(number[n] for n in below)
    findings = analyse(m.made(own), replicates=2, most_pairs=0)
    return list(findings.nodes), graph(callees), number[path.rpartition("/")[2]]


def _letters(above: str, deep: int) -> list[str]:
    return [f"{above.replace('/', '')}{letter}" if deep else letter for letter in "pqrs"]


DEEP = "q/qr/qqrs/qqrqqrsp"
"""Each function's name holds its callers', so that none is on two paths."""


@pytest.mark.parametrize("seed", range(3))
def test_guided_rounds_find_a_deep_source_in_as_many_rounds_as_it_is_deep(seed: int) -> None:
    nodes, calls, source = planted(DEEP, seed)
    budget = 20 * 50 / MEAN  # of 340 functions, 20 at a time
    assert guided_rounds(nodes, calls, [source], CHEAP, budget) == 4
    naive = naive_rounds(calls, [source], CHEAP, budget)
    assert naive is not None
    assert naive >= 8


def test_what_is_not_watched_is_its_callers_own_time() -> None:
    nodes, calls, source = planted(DEEP)
    full = own_shares(analyse(m.made({"A": [1, 5, 2], "A/B": [4, 9, 1]}), replicates=2))
    assert sum(full.values()) == pytest.approx(1)
    nothing = coarsened(nodes, ())
    assert nothing == {TRANSACTION: pytest.approx(1)}
    top = calls.callees[TRANSACTION]
    first = coarsened(nodes, top)
    assert max(first, key=lambda one: first[one]) == top[1]
    assert sum(first.values()) == pytest.approx(1)
    assert coarsened(nodes, {source})[source] > 0.8


def test_naive_rounds_take_as_many_as_the_budget_allows_at_least_one() -> None:
    assert naive_rounds(CHAIN, [1], CHEAP, 1.0) == 1
    assert naive_rounds(CHAIN, [5], CHEAP, 2 * 50 / MEAN) == 3  # 1 2 | 3 4 | 5 6
    assert naive_rounds(CHAIN, [6], CHEAP, 0.0) == 6
    assert naive_rounds(CHAIN, [6], CHEAP, 1.0, most=5) == 2
    assert naive_rounds(CHAIN, [99], CHEAP, 1.0) is None


def test_naive_rounds_look_at_no_callees_beyond_what_is_sought() -> None:
    """A program may have a hundred thousand functions, and each look reads code."""
    asked = []

    class Asked(dict[int, Collection[int]]):
        def get(self, function: int, otherwise: object = None) -> Collection[int]:  # type: ignore[override]
            asked.append(function)
            return super().get(function, ())

    assert naive_rounds(replace(CHAIN, callees=Asked(CHAIN.callees)), [4], CHEAP, 1.0) == 1
    assert asked == [TRANSACTION, 1, 2]
