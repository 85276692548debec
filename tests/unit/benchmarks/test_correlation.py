"""Coefficients and their intervals, against numbers known otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.oltp_age.correlation import correlation, fisher

S = 1_000_000_000


def test_fishers_interval_is_that_of_the_textbook() -> None:
    low, high = fisher(0.5, 28)
    assert (low, high) == (pytest.approx(0.1560, abs=5e-4), pytest.approx(0.7354, abs=5e-4))


def test_a_curve_is_all_of_spearmans_and_not_all_of_pearsons() -> None:
    x = np.arange(1.0, 200.0)
    found = correlation(x, np.exp(x / 20), np.arange(199, dtype=np.int64) * S)
    assert found is not None
    assert found.spearman == pytest.approx(1.0)
    assert 0.3 < found.pearson < 0.8
    assert found.by_seconds[0] <= found.pearson <= found.by_seconds[1]


def test_waits_that_share_their_second_count_as_the_few_that_they_are() -> None:
    draw = np.random.default_rng(1)
    x, y = (np.repeat(draw.normal(size=40), 50) + draw.normal(scale=0.01, size=2000) for _ in range(2))
    found = correlation(x, y, np.repeat(np.arange(40, dtype=np.int64), 50) * S)
    assert found is not None
    drawn, alone = (high - low for low, high in (found.by_seconds, found.fisher))
    assert drawn > 4 * alone


def test_too_few_waits_and_a_side_that_does_not_vary_have_no_coefficient() -> None:
    few, many = np.arange(5.0), np.arange(50.0)
    assert correlation(few, few, np.zeros(5, np.int64)) is None
    assert correlation(many, np.ones(50), np.zeros(50, np.int64)) is None
