"""The median and its interval: true to their coverage, and no number where there is none."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.protocol.statistics import median_interval, median_ranks, relative_sd, summarise

samples = st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=60)
scales = st.sampled_from([0.5, 2.0, 1024.0])


@pytest.mark.parametrize(
    ("n", "rank", "coverage"), [(6, 1, 0.96875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.958610)]
)
def test_the_ranks_are_those_of_the_tables(n: int, rank: int, coverage: float) -> None:
    assert median_ranks(n, 0.95) == (rank, pytest.approx(coverage, abs=1e-6))


def test_five_samples_get_no_interval_and_the_reason() -> None:
    found = summarise([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.median, found.interval) == (3.0, None)
    assert "5 samples" in (found.interval_reason or "")


def test_no_samples_get_no_median_and_the_reason() -> None:
    found = summarise([None, None], "no counter")
    assert (found.median, found.rsd, found.reason) == (None, None, "no counter")


def test_a_run_that_lacks_the_measure_keeps_its_place() -> None:
    found = summarise([1.0, None, 3.0])
    assert (found.samples, found.median) == ((1.0, None, 3.0), 2.0)


@given(samples)
def test_the_interval_is_made_of_samples_and_holds_the_median(values: list[float]) -> None:
    interval = median_interval(values)
    assert interval is not None
    assert interval.coverage >= 0.95
    assert {interval.low, interval.high} <= set(values)
    assert interval.low <= statistics.median(values) <= interval.high


@given(samples, scales)
def test_another_unit_scales_everything_but_the_rsd(values: list[float], scale: float) -> None:
    one, other = summarise(values), summarise([value * scale for value in values])
    assert other.median == pytest.approx(one.median * scale)
    assert (other.interval.low, other.interval.high) == (one.interval.low * scale, one.interval.high * scale)
    assert other.rsd == (None if one.rsd is None else pytest.approx(one.rsd))


@given(samples, st.randoms())
def test_the_order_of_runs_does_not_matter(values: list[float], shuffler: random.Random) -> None:
    shuffled = values.copy()
    shuffler.shuffle(shuffled)
    assert median_interval(shuffled) == median_interval(values)


@pytest.mark.parametrize("n", [6, 7, 10, 15, 30])
def test_the_coverage_is_what_it_says_on_skewed_noise(n: int) -> None:
    draw = random.Random(1)
    hits, trials = 0, 4000
    for _ in range(trials):
        interval = median_interval([draw.lognormvariate(0, 1) for _ in range(n)])
        assert interval is not None
        hits += interval.low <= 1.0 <= interval.high
        promised = interval.coverage
    assert hits / trials == pytest.approx(promised, abs=3.5 * math.sqrt(promised * (1 - promised) / trials))


def test_relative_standard_deviation_uses_n_minus_one() -> None:
    assert relative_sd([9.0, 11.0]) == pytest.approx(math.sqrt(2) / 10)
    assert relative_sd([1.0]) is None
    assert relative_sd([0.0, 0.0]) is None
