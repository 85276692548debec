"""How the windows of `benchmarks.profile_overhead` are compared."""

from __future__ import annotations

import math
from random import Random

import pytest
from benchmarks.profile_overhead.pairs import change, change_over


def ratios(number: int, seed: int, true: float = 1.05) -> list[float]:
    chance = Random(seed)
    return [true * math.exp(chance.gauss(0, 0.03)) for _ in range(number)]


def test_one_window_in_which_the_server_stood_still_moves_nothing() -> None:
    taken = ratios(40, seed=1)
    before, after = change(taken), change([*taken[1:], 300.0])
    assert after.value == pytest.approx(before.value, abs=0.003)
    assert after.high == pytest.approx(before.high, abs=0.005)


def test_too_few_pairs_give_a_value_and_no_interval() -> None:
    found = change(ratios(5, seed=2))
    assert (found.low, found.high) == (-1.0, math.inf)
    assert str(found) == f"{100 * found.value:.1f}%"
    assert not math.isinf(change(ratios(6, seed=2)).high)


def test_an_interval_over_rounds_holds_what_differs_from_round_to_round() -> None:
    def rounds(seed: int) -> list[list[float]]:
        chance = Random(seed)
        places = [math.exp(chance.gauss(0, 0.05)) for _ in range(12)]
        return [[place * one for one in ratios(5, seed * 100 + at)] for at, place in enumerate(places)]

    held = [change_over(rounds(seed)) for seed in range(400)]
    assert 0.92 * 400 < sum(one.low <= 0.05 <= one.high for one in held) < 0.98 * 400
