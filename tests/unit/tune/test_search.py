"""A search by halving: its time, who leaves, and whether it finds what was planted among noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.tune.arms import BASELINE, Arm
from tare.tune.racing import AROUND_S, FINALISTS, halvings, least_budget_s, survivors
from tare.tune.record import RunRecord, WindowRecord
from tare.tune.search import Search
from tare.tune.specification import ArmSpec, BlocksSpec, GoalSpec, LoadSpec, TuneSpecification
from tare.tune.verdicts import Objective
from tests.unit.tune.sample import run_record, window

SHAPE = BlocksSpec(window_s=3.0, settle_s=0.5, count=2)


class Clock:
    """Time that passes while a run of the load is measured."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


def specification(arms: int, objective: Objective = Objective.P99) -> TuneSpecification:
    return TuneSpecification(
        load=LoadSpec(workload="tpcc", rate=100.0, warmup_s=5.0),
        blocks=SHAPE,
        goal=GoalSpec(objectives=(objective,)),
        arm=tuple(ArmSpec(name=f"a{number}", set={"knob": str(number)}) for number in range(arms)),
    )


def searched(
    arms: int,
    budget_s: float,
    figure: Callable[[str], float],
    *,
    objective: Objective = Objective.P99,
    ends: Callable[[int, Sequence[str]], RunRecord] = lambda turn, names: run_record(),
) -> tuple[Search, Clock]:
    clock = Clock()
    spec = specification(arms, objective)
    search = Search(
        spec, budget_s, lambda: SHAPE.window_s, [Arm(arm.name, dict(arm.set)) for arm in spec.arm], now=clock
    )

    def measure(
        taking: Sequence[Arm], blocks: int, turn: int, first: int
    ) -> tuple[RunRecord, list[WindowRecord]]:
        clock.s += spec.load.warmup_s + AROUND_S + (blocks + 1) * len(taking) * SHAPE.window_s
        found = [
            window(turn, first + block, arm.name, figure(arm.name))
            for block in range(blocks + 1)
            for arm in taking
        ]
        return ends(turn, [arm.name for arm in taking]), found

    search.race(measure)
    return search, clock


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 40), st.floats(1.0, 8.0))
def test_rounds_leave_the_time_for_fresh_blocks(arms: int, more: float) -> None:
    budget_s = more * least_budget_s(arms, SHAPE.window_s, 5.0)
    search, clock = searched(arms, budget_s, lambda name: 1.0)
    assert len(search.rounds) == halvings(arms)
    assert [len(one.arms) for one in search.rounds] == [
        arms, *(survivors(len(one.arms)) for one in search.rounds[:-1])
    ]  # fmt: skip
    assert len(search.left) == FINALISTS
    final_s = 5.0 + AROUND_S + 3 * (FINALISTS + 2) * SHAPE.window_s
    assert search.seconds_left >= final_s - 1e-6
    assert clock.s <= 0.7 * budget_s + 1e-6


@pytest.mark.parametrize("objective", [Objective.P99, Objective.THROUGHPUT])
def test_the_best_stay_in_the_sense_of_the_objective(objective: Objective) -> None:
    search, _ = searched(
        8, 3600, lambda name: 1.0 if name == BASELINE else 1 + int(name[1:]), objective=objective
    )
    assert [arm.name for arm in search.left] == ["a0", "a1"], "more time is less throughput"


def test_a_candidate_that_overloads_the_server_leaves_alone_and_at_once() -> None:
    def ends(turn: int, names: Sequence[str]) -> RunRecord:
        return run_record(is_over="a5" in names, leaving={"a5": 1, "a2": 1} if "a5" in names else {})

    search, _ = searched(6, 3600, lambda name: 1.0, ends=ends)
    first, second, *_ = search.rounds
    assert [(one.name, one.reason) for one in first.ended] == [
        ("a5", "left a backlog: over capacity at this rate")
    ]
    assert len(second.arms) == 5
    assert not search.is_ended


@pytest.mark.parametrize(
    "end",
    [run_record(is_stopped=True), run_record(is_over=True, leaving={BASELINE: 2}), run_record(is_over=True)],
)
def test_nothing_is_confirmed_when_the_user_or_the_baseline_ends_it(end: RunRecord) -> None:
    search, _ = searched(6, 3600, lambda name: 1.0, ends=lambda turn, names: end)
    assert search.is_ended
    assert len(search.rounds) == 1
    assert search.rounds[0].ended == ()


def test_a_planted_candidate_is_found_among_twelve_in_half_an_hour() -> None:
    """p99 of one in twelve is 1.3 times better; figures of windows vary by a standard deviation of 0.35 in their
    logarithms, one in twenty by ten times that. The bar is nine of ten."""
    chance = np.random.default_rng(20261126)
    found = 0
    for _ in range(200):

        def figure(name: str) -> float:
            spread = 3.5 if chance.random() < 0.05 else 0.35
            return math.exp(chance.normal(0, spread)) / (1.3 if name == "a7" else 1.0)

        search, _ = searched(12, 1800, figure)
        found += "a7" in [arm.name for arm in search.left]
    assert found >= 180
