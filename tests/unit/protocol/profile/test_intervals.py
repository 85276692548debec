"""The block bootstrap: it holds what it promises, also where neighbours are alike."""

from __future__ import annotations

import numpy as np
import pytest

from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.blocks import FEWEST_BLOCKS, block_length
from tare.protocol.profile.resample import percentiles, resample
from tare.protocol.profile.times import Times
from tare.protocol.profile.tree import tree_of
from tests.unit.protocol.profile.made import made, microseconds

Series = np.ndarray[tuple[int], np.dtype[np.float64]]


def alike(seed: int, n: int, memory: float) -> Series:
    """Neighbours correlated by `memory`; sd 1."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, (1 - memory**2) ** 0.5, n)
    found = np.empty(n)
    found[0] = random.normal()
    for t in range(1, n):
        found[t] = memory * found[t - 1] + steps[t]
    return found


def test_blocks_are_as_long_as_neighbours_are_alike() -> None:
    lengths = [
        np.median([block_length(alike(seed, 4_000, memory)) for seed in range(5)])
        for memory in (0, 0.5, 0.95)
    ]
    assert lengths[0] <= 6
    assert lengths == sorted(lengths)
    assert lengths[2] > 40


def test_there_are_blocks_enough_to_draw_from_and_not_more_than_memory_is_meant_for() -> None:
    trend = np.arange(1_000.0)
    assert 1_000 / block_length(trend) >= FEWEST_BLOCKS
    assert block_length(np.random.default_rng(1).normal(size=100_000)) >= 100
    assert block_length(np.array([1.0, 2.0])) == 1


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_of_intervals_of_a_planted_share_some_95_of_100_hold_it(memory: float) -> None:
    """Own times with variances 3 : 1, so that 75% is the truth. Of 60 profiles 57 ± 1.7 are to be expected."""
    held = 0
    for seed in range(60):
        lock = alike(2 * seed, 1_500, memory) * 3**0.5 * 20
        rest = alike(2 * seed + 1, 1_500, memory) * 20
        measured = made({"A": microseconds(300 + rest), "A/lock": microseconds(300 + lock)})
        times = Times(measured, tree_of(measured))
        found = resample(times, replicates=300, seed=seed)
        shares = found.own_with_total[:, 2] / found.total
        covariance = np.cov(measured.own_ns[2::3], measured.duration_ns)
        (one,) = percentiles(np.array([covariance[0, 1] / covariance[1, 1]]), shares[:, None], found.blocks)
        held += one.low <= 0.75 <= one.high
    assert held >= 51


def test_the_same_seed_gives_the_same_intervals_and_another_does_not() -> None:
    random = np.random.default_rng(3)
    measured = made({"A": random.integers(0, 100, 300), "A/B": random.integers(0, 90, 300)})
    first, again, other = (analyse(measured, seed=seed, replicates=100) for seed in (1, 1, 2))
    assert first == again
    assert first.nodes[1].variance.value == other.nodes[1].variance.value
    assert first.nodes[2].own_covariance != other.nodes[2].own_covariance


def test_replicates_are_what_analysing_the_drawn_transactions_would_give() -> None:
    """The shortcut by block sums against the long way, replicate by replicate."""
    random = np.random.default_rng(4)
    n = 230
    lock, read = random.exponential(900, n).astype(int), random.exponential(700, n).astype(int)
    measured = made(
        {"A": random.integers(0, 50, n), "A/lock": lock, "A/read": read}, cpu=list(map(int, read))
    )
    tree = tree_of(measured)
    inside = measured.duration_ns > np.quantile(measured.duration_ns, 0.9)
    found = resample(Times(measured, tree), None, [((2, False), (3, False))], inside, replicates=8, seed=1)
    total = measured.duration_ns.astype(float)
    for replicate, weights in enumerate(found.weights):
        drawn = np.repeat(np.arange(n), weights[np.arange(n) // found.length].astype(int))

        def cov(one: np.ndarray, other: np.ndarray, rows: np.ndarray = drawn) -> float:
            return float(np.cov(one[rows], other[rows], ddof=0)[0, 1])

        assert found.total[replicate] == pytest.approx(cov(total, total))
        assert found.own_with_total[replicate, 2] == pytest.approx(cov(lock, total))
        assert found.inclusive[replicate, 1] == pytest.approx(cov(total, total))
        assert found.own[replicate, 3] == pytest.approx(cov(read, read))
        assert found.pairs[replicate, 0] == pytest.approx(cov(lock, read), rel=1e-6, abs=1)
        assert found.own_mean[replicate, 2] == pytest.approx(lock[drawn].mean())
        assert found.mean[replicate] == pytest.approx(total[drawn].mean())
        assert found.cpu is not None
        assert found.cpu[replicate] == pytest.approx(cov(read, total) / cov(total, total))
        assert found.tail_excess is not None
        tail, others = drawn[inside[drawn]], drawn[~inside[drawn]]
        assert found.tail_excess[replicate, 2] == pytest.approx(
            (lock[tail].mean() - lock[others].mean()) / (total[tail].mean() - total[others].mean())
        )
        assert found.quantile(measured.duration_ns, 0.99)[replicate] == np.quantile(
            total[drawn], 0.99, method="inverted_cdf"
        )


def test_more_transactions_narrow_an_interval_as_the_root_of_their_number() -> None:
    random = np.random.default_rng(5)
    widths = []
    for n in (500, 8_000):
        found = analyse(made({"A": random.exponential(1e4, n), "A/B": random.exponential(1e4, n)}))
        share = found.nodes[2].own_covariance
        widths.append(share.high - share.low)
    assert 2.5 < widths[0] / widths[1] < 6.5
