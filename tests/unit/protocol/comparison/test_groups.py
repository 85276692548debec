"""Ratios of groups of runs: Welch's interval of log figures, silent where a group shows no spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from tare.protocol.comparison.groups import ratio_of_groups

FIGURES = st.lists(st.floats(min_value=0.01, max_value=1e6), min_size=2, max_size=20)


@given(FIGURES, FIGURES)
def test_the_interval_is_welchs_of_the_log_figures(a: list[float], b: list[float]) -> None:
    found = ratio_of_groups(a, b)
    assume(found is not None)
    assert found is not None
    logs = np.log(a), np.log(b)
    if min(log.std() for log in logs) > 1e-6:
        expected = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
        assert math.log(found.low) == pytest.approx(expected.low, rel=1e-6, abs=1e-6)
        assert math.log(found.high) == pytest.approx(expected.high, rel=1e-6, abs=1e-6)


@given(FIGURES, FIGURES)
def test_the_inverse_ratio_has_the_inverse_interval(a: list[float], b: list[float]) -> None:
    there, back = ratio_of_groups(a, b), ratio_of_groups(b, a)
    assume(there is not None and back is not None)
    assert there is not None
    assert back is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.low == pytest.approx(1 / there.high)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [3.0]), ([1.0, 0.0], [1.0, 1.0])])
def test_a_group_of_one_run_and_figures_that_are_not_positive_have_no_ratio(
    a: list[float], b: list[float]
) -> None:
    assert ratio_of_groups(a, b) is None


def test_equal_figures_have_an_interval_of_no_width() -> None:
    found = ratio_of_groups([2.0, 2.0], [1.0, 1.0])
    assert found is not None
    assert found.low == found.ratio == found.high == pytest.approx(2)


@pytest.mark.parametrize("runs", [(2, 2), (3, 5), (10, 4)])
def test_groups_of_the_same_are_told_apart_no_more_often_than_promised(runs: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    wrong = 0
    for _ in range(2000):
        a, b = (random.lognormal(0, 0.05, count) for count in runs)
        found = ratio_of_groups(list(a), list(b))
        assert found is not None
        wrong += not found.low <= 1 <= found.high
    assert wrong < 0.065 * 2000
