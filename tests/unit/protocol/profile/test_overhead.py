"""The overhead that windows taking turns tell."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tare.protocol.profile.measured import Measure, Window
from tare.protocol.profile.overhead import Turn, excess, growth, overhead, turns
from tests.unit.protocol.profile.made import tables


def taken(
    slower: float, pairs: int = 12, drift: float = 0.0, noise: float = 0.01, seed: int = 1
) -> list[Turn]:
    random = np.random.default_rng(seed)
    found: list[Turn] = []
    for pair in range(pairs):
        for probed in (True, False) if pair % 2 else (False, True):
            mean = 1e6 * (1 + drift * len(found)) * math.exp(random.normal(0, noise))
            mean *= 1 + slower if probed else 1
            found.append(Turn(probed, round(1e9 / mean * 8), mean, 1.0))
    return found


def test_a_known_slowdown_is_found_in_latency_and_throughput() -> None:
    found = overhead(taken(0.05), events=100, pair_ns=50, marker_events=2)
    assert found.windows == 12
    assert found.latency is not None
    assert found.throughput is not None
    assert found.latency.low < 0.05 < found.latency.high
    assert found.throughput.low < 1 - 1 / 1.05 < found.throughput.high
    assert found.latency.high - found.latency.low < 0.04
    assert found.predicted == pytest.approx(100 * 50 / 1e6, rel=0.05)
    assert found.markers == pytest.approx(2 * 50 / 1e6, rel=0.05)


def test_where_cpus_have_nothing_to_spare_the_cost_is_a_share_of_them() -> None:
    """Eight clients, transactions of 1 ms: 8,000 a second, each has an eighth of one CPU's millisecond."""
    found = [overhead(taken(0.05), events=100, pair_ns=50, marker_events=2, cpus=cpus) for cpus in (0, 1, 64)]
    assert found[1].predicted == pytest.approx(8 * found[0].predicted, rel=0.02)
    assert found[1].markers == pytest.approx(8 * found[0].markers, rel=0.02)
    assert found[2].predicted == found[0].predicted


def test_a_load_that_grows_all_the_while_is_not_taken_for_overhead() -> None:
    found = overhead(taken(0.0, drift=0.02, noise=0.005), events=1, pair_ns=50, marker_events=1)
    assert found.latency is not None
    assert found.latency.low < 0 < found.latency.high


def test_of_intervals_where_probes_cost_nothing_some_95_of_100_hold_nothing() -> None:
    held = 0
    for seed in range(100):
        latency = overhead(
            taken(0.0, pairs=8, noise=0.05, seed=seed), events=1, pair_ns=1, marker_events=1
        ).latency
        assert latency is not None
        held += latency.low <= 0 <= latency.high
    assert held >= 88


def test_a_window_in_which_the_server_stood_still_moves_nothing() -> None:
    quiet = taken(0.05)
    still = next(place for place, turn in enumerate(quiet) if turn.probed)
    stood = [replace(turn, mean_ns=200e6) if place == still else turn for place, turn in enumerate(quiet)]
    found, beside = (overhead(of, events=1, pair_ns=50, marker_events=1).latency for of in (quiet, stood))
    assert found is not None
    assert beside is not None
    assert beside.value == pytest.approx(found.value, abs=0.005)
    assert beside.high - beside.low < 2 * (found.high - found.low)


def test_one_pair_has_no_interval_and_so_no_figure() -> None:
    found = overhead(taken(0.05, pairs=1), events=10, pair_ns=50, marker_events=1)
    assert (found.windows, found.latency, found.throughput) == (1, None, None)
    assert found.predicted > 0


def test_windows_of_one_kind_in_a_row_and_empty_ones_make_no_pair() -> None:
    row = [
        Turn(True, 10, 1e6, 1),
        Turn(True, 10, 1e6, 1),
        Turn(False, 0, 0, 1),
        Turn(False, 10, 1e6, 1),
        Turn(True, 10, 1e6, 1),
    ]
    assert overhead(row, events=1, pair_ns=1, marker_events=1).windows == 1


def test_what_a_change_of_probes_cut_counts_for_throughput_where_it_ended_and_not_for_the_mean() -> None:
    """The first of two windows cuts one, whose rest is seen in the second; one of many threads ended there too."""
    windows = [
        Window(0, 0, 1000, "probed", 1),
        Window(1, 1000, 1500, "counting", 1),
        Window(2, 2000, 3000, "markers only", 1),
    ]
    began = [(100, 10), (200, 20), (990, 9), (1100, 40), (2000, 7), (2100, 50), (980, 1050)]
    transactions, _, _ = tables(
        {"A": [ns for _, ns in began]},
        begin=[at for at, _ in began],
        window=[0, 0, 0, 1, 2, 2, 0],
        why=["valid", "lost", "changed", "valid", "unfinished", "valid", "changed"],
        ended=[True, True, False, True, True, True, True],
    )
    assert turns(transactions, windows) == [Turn(True, 2, 15.0, 1e-6), Turn(False, 3, 50.0, 1e-6)]


# The budget, after each pair ------------------------------------------------------------
def test_two_pairs_that_lose_most_of_the_throughput_are_an_excess() -> None:
    found = excess(taken(1.86, pairs=2, noise=0.1), 0.05)
    assert found is not None
    assert (found.measure, found.pairs) == (Measure.LATENCY, 2)
    assert found.figure.low > 0.5


def test_a_loss_of_throughput_counts_as_the_time_that_it_adds() -> None:
    halved = [Turn(probed, 400 if probed else 1000, 1e6, 1.0) for probed in (True, False, False, True)]
    found = excess(halved, 0.05)
    assert found is not None
    assert found.measure is Measure.THROUGHPUT
    assert found.figure.value == pytest.approx(0.6)
    assert found.added.value == pytest.approx(1.5)


def test_two_pairs_that_agree_by_chance_are_not_taken_for_sure() -> None:
    found = overhead(taken(0.08, pairs=2, noise=0.0), events=1, pair_ns=1, marker_events=1)
    assert found.latency is not None
    assert found.latency.low < 0 < 0.08 < found.latency.high
    assert excess(taken(0.08, pairs=2, noise=0.0), 0.05) is None


def test_of_rounds_whose_probes_cost_nothing_next_to_none_is_stopped() -> None:
    stopped = 0
    for seed in range(100):
        row = taken(0.0, noise=0.07, seed=seed)
        stopped += any(excess(row[: 2 * pairs], 0.05) is not None for pairs in range(2, 13))
    assert stopped <= 3


def test_two_pairs_of_a_load_that_waits_in_bursts_are_no_excess() -> None:
    # TPC-C on MySQL 5.6.24 at 450 a second, four functions watched: transactions, mean in ms, seconds.
    measured = (
        (False, 346, 4.6, 0.77),
        (True, 657, 6.1, 1.53),
        (True, 585, 77.8, 1.53),
        (False, 419, 51.1, 0.77),
    )
    bursts = [Turn(probed, count, mean * 1e6, seconds) for probed, count, mean, seconds in measured]
    assert excess(bursts, 0.05) is None


def test_one_pair_is_never_an_excess() -> None:
    assert excess(taken(9.0, pairs=1), 0.05) is None


def test_a_queue_that_grows_from_window_to_window_has_no_overhead() -> None:
    growing = [
        Turn(one.probed, one.transactions, one.mean_ns * 1.2**place, one.seconds)
        for place, one in enumerate(taken(0.05, pairs=6))
    ]
    found = overhead(growing, events=1, pair_ns=1, marker_events=1)
    assert (found.latency, found.throughput) == (None, None)
    assert found.growth == pytest.approx(1.2**11, rel=0.2)


def test_a_load_that_only_scatters_is_steady() -> None:
    assert sum(growth(taken(0.3, noise=0.3, seed=seed)) is not None for seed in range(100)) <= 2
