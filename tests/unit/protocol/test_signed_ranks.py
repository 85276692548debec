"""Centre of one sample by signed ranks."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from tare.protocol.signed_ranks import beyond_ranks, centre, interval

CRITICAL = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 15: 25, 20: 52, 25: 89, 30: 137}
"""Largest W that is significant at 5%, two-sided: the published table."""

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


def drawn(number: int, seed: int) -> list[float]:
    chance = Random(seed)
    return [chance.gauss(0.05, 0.03) for _ in range(number)]


@pytest.mark.parametrize("number", CRITICAL)
def test_ranks_are_those_of_the_published_table(number: int) -> None:
    found = beyond_ranks(number, 0.95)
    assert found is not None
    assert found[0] == CRITICAL[number]


def test_coverage_is_what_counting_all_signs_gives() -> None:
    number = 9
    sums = [
        sum(itertools.compress(range(1, number + 1), signs))
        for signs in itertools.product((0, 1), repeat=number)
    ]
    found = beyond_ranks(number, 0.95)
    assert found is not None
    assert found[1] == pytest.approx(1 - 2 * sum(one <= found[0] for one in sums) / 2**number)


def test_the_interval_ends_where_the_test_would_no_longer_reject() -> None:
    for seed in range(5):
        values = np.array(drawn(30, seed))
        found = interval(values)
        assert found is not None
        for end, inwards in ((found.low, 1e-9), (found.high, -1e-9)):
            assert wilcoxon(values - end - inwards, method="exact").pvalue > 0.05
            assert wilcoxon(values - end + inwards, method="exact").pvalue <= 0.05


def test_it_holds_the_true_centre_as_often_as_it_says() -> None:
    found = [interval(drawn(12, seed)) for seed in range(600)]
    held = [one.low <= 0.05 <= one.high for one in found if one]
    assert len(held) == 600
    assert 0.935 < sum(held) / 600 < 0.98


def test_one_value_far_out_moves_it_no_more_than_one_that_is_not() -> None:
    values = drawn(40, seed=1)
    near, far = ([*values[1:], out] for out in (0.2, 1e9))
    assert (centre(near), interval(near)) == (centre(far), interval(far))


def test_five_values_have_a_centre_and_no_interval_and_none_have_neither() -> None:
    assert interval(drawn(5, seed=1)) is None
    assert math.isfinite(centre(drawn(5, seed=1)))
    with pytest.raises(ValueError, match="no value"):
        centre([])


@given(VALUES)
def test_the_centre_is_in_its_interval_and_that_among_the_values(values: list[float]) -> None:
    here = centre(values)
    assert min(values) <= here <= max(values)
    if found := interval(values):
        assert min(values) <= found.low <= here <= found.high <= max(values)
        assert found.coverage >= 0.95


@given(VALUES, st.integers(-1000, 1000))
def test_it_moves_with_the_values_and_turns_with_them(values: list[float], by: int) -> None:
    assert centre([by + one for one in values]) == pytest.approx(by + centre(values), abs=1e-6)
    assert centre([-one for one in values]) == pytest.approx(-centre(values), abs=1e-6)
