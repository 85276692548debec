"""The warm-up of a new server: found where there is one, and not where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.tune.steady import Steady, Watch, by_second, steadiness
from tare.workload.oltp.samples import ENDS, RECORD

TRIALS = 200


def series(seconds: int, decay_s: float, seed: int, spread: float = 0.15) -> np.ndarray:
    """Logarithms of response times that begin e² times as long and decay."""
    noise = np.random.default_rng(seed).standard_normal(seconds)
    return spread * noise + 2 * np.exp(-np.arange(seconds) / decay_s)


def test_a_warm_up_is_removed_until_little_of_it_is_left() -> None:
    left = [2 * np.exp(-steadiness(series(35, 3.0, seed)).begins / 3.0) for seed in range(TRIALS)]
    assert np.median(left) < 0.2  # of 2.0


def test_steady_response_times_lose_little() -> None:
    found = [steadiness(series(35, 0.1, seed)) for seed in range(TRIALS)]
    assert np.median([each.begins for each in found]) <= 2
    assert sum(not each.is_steady for each in found) <= 0.05 * TRIALS


def test_a_warm_up_longer_than_the_watch_is_noticed() -> None:
    assert sum(steadiness(series(35, 35.0, seed)).is_steady for seed in range(TRIALS)) <= 0.3 * TRIALS


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60))
def test_at_most_half_is_removed(values: list[float]) -> None:
    assert 0 <= steadiness(values).begins <= len(values) / 2


def records(times_ms: list[list[float]]) -> np.ndarray:
    """Transactions by second, evenly spaced within it."""
    rows = []
    for second, times in enumerate(times_ms):
        for number, time in enumerate(times):
            intended = second * 10**9 + number * 10**9 // len(times)
            rows.append((0, ENDS.index("committed"), 1, 0, 0, intended, intended, intended + int(time * 1e6)))
    return np.array(rows, dtype=RECORD)


def test_a_second_is_the_mean_logarithm_of_its_response_times_and_an_empty_one_is_slow() -> None:
    assert by_second(records([[1.0, np.e**2], [], [np.e] * 3]), 0, 3) == pytest.approx([1.0, 1.0, 1.0])
    assert by_second(records([[np.e], [], [1.0]]), 0, 3) == pytest.approx([1.0, 1.0, 0.0])


def test_the_longest_warm_up_of_all_servers_counts_and_one_that_is_not_steady_says_so() -> None:
    watch = Watch(given_s=10.0)
    fast = [[5.0] * 9] * 2 + [[1.0] * 9] * 33
    slow = [[5.0] * 9] * 8 + [[1.0] * 9] * 27
    for each in (fast, slow):
        watch.see(records(each), 0, 35.0)
    warmup = watch.conclude()
    assert (warmup.length_s, warmup.is_steady) == (8.0, True)
    watch.see(records([[float(100 - 2 * second)] * 9 for second in range(35)]), 0, 35.0)
    warmup = watch.conclude()
    assert (warmup.length_s, warmup.is_steady) == (30.0, False)


def test_a_single_value_is_not_known_to_be_steady() -> None:
    assert steadiness([1.0]) == Steady(0, False)
