"""Change points are found where they were planted, and nowhere else."""

from __future__ import annotations

import math
import random

import pytest
from scipy.stats import binom

from tare.protocol.changepoints import FEWEST, LEVEL, MOST_POINTS, change_points


def noise(count: int, seed: int, spread: float = 0.01) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(0, spread) for _ in range(count)]


def stepped(count: int, steps: dict[int, float], seed: int) -> list[float]:
    """Noise whose level is multiplied by each factor from its place on, as logarithms."""
    return [
        value + sum(math.log(factor) for place, factor in steps.items() if index >= place)
        for index, value in enumerate(noise(count, seed))
    ]


@pytest.mark.parametrize(("count", "place"), [(12, 6), (23, 20), (40, 20), (40, 37)])
def test_a_step_is_found_where_it_was_planted(count: int, place: int) -> None:
    assert change_points(stepped(count, {place: 1.10}, seed=1)) == [place]


def test_each_of_several_steps_is_found() -> None:
    assert change_points(stepped(60, {20: 1.10, 45: 0.9}, seed=2)) == [20, 45]


def test_a_far_out_point_is_no_change() -> None:
    values = noise(30, seed=3)
    values[17] += 1.0
    assert change_points(values) == []


def test_equal_points_have_no_change() -> None:
    assert change_points([1.0] * 30) == []


@pytest.mark.parametrize("count", [0, 1, 2 * FEWEST - 1, 2 * FEWEST])
def test_so_few_points_tell_nothing(count: int) -> None:
    assert change_points([0.0] * (count // 2) + [1.0] * (count - count // 2)) == []


def test_a_series_is_searched_alike_each_time() -> None:
    values = noise(40, seed=4)
    assert change_points(values, seed=7) == change_points(values, seed=7)


def test_of_series_without_a_change_few_are_split() -> None:
    trials = 200
    false = sum(bool(change_points(noise(20, seed), seed)) for seed in range(trials))
    assert binom.sf(false - 1, trials, LEVEL) > 0.001, f"{false} of {trials}"


def test_more_points_than_can_be_searched_are_refused() -> None:
    with pytest.raises(ValueError, match="at most"):
        change_points([0.0] * (MOST_POINTS + 1))
