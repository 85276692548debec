"""A gate: slower, not slower, or undecided; never tighter than its own noise floor."""

from __future__ import annotations

import random

import pytest

from tare.protocol.comparison.gate import ALPHA, Verdict, confidence, look, look_at


def arms(seed: int, blocks: int, ratio: float, noise: float) -> tuple[list[float], list[float], list[float]]:
    """Figures of blocks: each has a level of its own, and each arm its noise."""
    draw = random.Random(seed)
    baseline, again, candidate = [], [], []
    for _ in range(blocks):
        level = draw.lognormvariate(3, 0.3)
        baseline.append(level * draw.lognormvariate(0, noise))
        again.append(level * draw.lognormvariate(0, noise))
        candidate.append(level * ratio * draw.lognormvariate(0, noise))
    return baseline, again, candidate


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.2, Verdict.SLOWER), (1.0, Verdict.NOT_SLOWER), (0.8, Verdict.NOT_SLOWER), (1.05, Verdict.UNDECIDED)],
)
def test_a_clear_slowdown_fails_and_its_absence_passes(ratio: float, verdict: Verdict) -> None:
    assert look(1, *arms(1, 12, ratio, 0.01), 0.05).verdict is verdict


def test_a_margin_tighter_than_the_noise_floor_decides_nothing_and_says_how_many_blocks_would() -> None:
    noisy = look(1, *arms(2, 6, 1.0, 0.05), 0.02)
    assert noisy.verdict is Verdict.UNDECIDED
    assert noisy.floor is not None
    assert noisy.floor.distance > 0.02
    assert noisy.blocks_needed is None or noisy.blocks_needed > 6


def test_a_change_far_beyond_the_floor_is_seen_through_it() -> None:
    assert look(1, *arms(3, 6, 3.0, 0.05), 0.02).verdict is Verdict.SLOWER


def test_levels_of_all_looks_together_stay_below_alpha() -> None:
    assert sum(1 - confidence(number) for number in range(1, 10_000)) <= ALPHA


def test_looks_come_at_growing_numbers_of_blocks() -> None:
    assert [look_at(number) for number in (1, 2, 3, 4)] == [6, 9, 14, 21]


def test_without_a_figure_there_is_no_verdict() -> None:
    assert look(1, [1.0], [1.0], [1.0], 0.05).verdict is Verdict.UNDECIDED
