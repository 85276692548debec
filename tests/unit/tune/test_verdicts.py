"""Verdicts over blocks: seldom wrong without a difference, right with one, undecided in between."""

from __future__ import annotations

import numpy as np
import pytest

from tare.protocol.comparison.holm import holm
from tare.tune.verdicts import Floor, Judged, Objective, Verdict, judge, paired

BLOCKS = 12


def stage(chance: np.random.Generator, effects: list[float], spread: float) -> dict[str, Judged]:
    """Verdicts of arms with these true ratios, by one objective."""
    shared = chance.normal(0, 0.5, BLOCKS)
    columns = [list(np.exp(shared + chance.normal(np.log(e), spread, BLOCKS))) for e in (1.0, 1.0, *effects)]
    floor = Floor(paired(columns[0], columns[1]))
    return judge(
        Objective.P99, {str(n): paired(columns[0], column) for n, column in enumerate(columns[2:])}, floor
    )


def test_arms_without_an_effect_are_seldom_called_better_or_worse() -> None:
    chance = np.random.default_rng(1)
    wrong = [
        any(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in stage(chance, [1.0] * 4, 0.3).values())
        for _ in range(400)
    ]
    assert np.mean(wrong) <= 0.05


def test_a_large_effect_is_seen_in_its_direction() -> None:
    chance = np.random.default_rng(2)
    found = [stage(chance, [0.6, 1.0, 1.7], 0.2) for _ in range(50)]
    assert np.mean([one["0"].verdict is Verdict.BETTER for one in found]) >= 0.9
    assert np.mean([one["2"].verdict is Verdict.WORSE for one in found]) >= 0.9


def test_an_undecided_arm_says_how_many_blocks_would_decide() -> None:
    chance = np.random.default_rng(3)
    judged = [stage(chance, [0.8], 0.6)["0"] for _ in range(20)]
    undecided = [one for one in judged if one.verdict is Verdict.UNDECIDED]
    assert undecided
    assert all(one.blocks_needed is None or one.blocks_needed > BLOCKS for one in undecided)


def test_baselines_that_differ_leave_every_arm_undecided() -> None:
    floor = Floor(paired([1.0, 1.1, 1.0, 1.05], [2.0, 2.1, 2.2, 1.9]))
    arm = paired([1.0, 1.1, 1.0, 1.05], [4.0, 4.1, 4.2, 3.9])
    assert not floor.holds_1
    assert judge(Objective.MEAN, {"arm": arm}, floor)["arm"].verdict is Verdict.UNDECIDED


def test_more_throughput_is_better() -> None:
    floor = Floor(paired([100.0, 101.0, 99.0, 100.0], [100.0, 99.0, 100.0, 101.0]))
    arm = paired([100.0, 101.0, 99.0, 100.0], [150.0, 152.0, 149.0, 150.0])
    assert judge(Objective.THROUGHPUT, {"arm": arm}, floor)["arm"].verdict is Verdict.BETTER


def test_holm_multiplies_the_smallest_most_and_never_falls() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})


def test_an_arm_without_figures_is_not_measured() -> None:
    assert paired([1.0, None], [1.0, 2.0]) is None
    assert judge(Objective.SD, {"arm": None}, Floor(None))["arm"].verdict is Verdict.NOT_MEASURED
