"""Figures of a live page: estimates that grow, and the time that is left."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.protocol.distributions import student_quantile
from tare.report.observe.run import WANTED, estimate, time_left


def half_width(sd: float, n: int) -> float:
    return student_quantile(n - 1, 0.975) * sd / math.sqrt(n)


def test_without_two_executions_there_is_no_interval() -> None:
    assert estimate([]).mean is None
    one = estimate([7])
    assert (one.n, one.mean, one.low, one.high, one.more) == (1, 7, None, None, None)


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=50))
def test_the_executions_that_are_missing_would_do_and_hardly_fewer(walls: list[int]) -> None:
    found = estimate(walls)
    assert found.mean == pytest.approx(fmean(walls))
    assert found.low is not None and found.high is not None and found.more is not None  # noqa: PT018
    assert found.high - found.low == pytest.approx(2 * half_width(stdev(walls), len(walls)), abs=1e-6)
    if found.n + found.more < 1_000_000:
        assert half_width(stdev(walls), found.n + found.more) <= WANTED * fmean(walls) * (1 + 1e-9)
    if found.more > 0:
        fewer = max(len(walls), math.floor((found.n + found.more - 1) / 1.06) - 2)
        if fewer >= 2:
            assert half_width(stdev(walls), fewer) > WANTED * fmean(walls) * 0.9


def test_equal_executions_need_no_more() -> None:
    assert estimate([5, 5, 5]).more == 0


def test_time_left_covers_what_comes() -> None:
    draw = random.Random(3)
    covered = 0
    for _ in range(400):
        pace = [draw.gauss(10, 2) for _ in range(20)]
        found = time_left(pace, 30)
        assert found is not None
        covered += found[1] <= sum(draw.gauss(10, 2) for _ in range(30)) <= found[2]
    # 95% of 400; four standard errors of a binomial.
    assert abs(covered - 380) <= 4 * math.sqrt(400 * 0.95 * 0.05)


def test_few_visits_tell_no_time_and_none_are_left_at_the_end() -> None:
    assert time_left([1.0, 1.0], 5) is None
    assert time_left([1.0] * 9, 0) is None
