"""A warm-up is seen where there is one, rarely where there is none, and never decides anything."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.protocol.warmup import detect, settled, steady
from tests.unit.protocol.qe_records import qe, run_of


def noise(seed: int, n: int = 10, rsd: float = 0.02) -> list[float]:
    draw = random.Random(seed)
    return [100 * (1 + draw.gauss(0, rsd)) for _ in range(n)]


def test_a_cold_first_run_is_seen() -> None:
    found = detect([178.4, *noise(1, 9)])
    assert (found.runs, found.detected) == (1, True)
    assert "the first run lies" in found.evidence


def test_three_slow_runs_are_seen_as_three() -> None:
    assert detect([150.0, 140.0, 130.0, *noise(2, 12)]).runs == 3


def test_a_run_that_begins_too_fast_drifts_as_well() -> None:
    found = detect([50.0, *noise(3, 9)])
    assert found.runs == 1
    assert found.shift < 0


@pytest.mark.parametrize("n", [6, 10, 30])
def test_steady_noise_is_called_drifting_in_about_one_run_of_a_hundred(n: int) -> None:
    assert sum(detect(noise(seed, n)).detected for seed in range(1000)) <= 25


def test_far_out_runs_of_a_heavy_tail_seldom_look_like_a_warm_up() -> None:
    def heavy(seed: int) -> list[float]:
        draw = random.Random(seed)
        return [x * (1.5 if draw.random() < 0.1 else 1) for x in noise(seed)]

    assert sum(detect(heavy(seed)).detected for seed in range(500)) <= 0.08 * 500


def test_a_ten_per_cent_first_run_is_found_nine_times_in_ten() -> None:
    found = sum(detect([x[0] * 1.1, *x[1:]]).detected for x in (noise(s, rsd=0.01) for s in range(300)))
    assert found >= 0.9 * 300


def test_half_a_per_cent_is_not_worth_a_word() -> None:
    assert not detect([100.5, *[100.0] * 9]).detected


def test_five_runs_are_too_few_to_tell() -> None:
    assert "too few" in detect([9.0, 1.0, 1.0, 1.0, 1.0]).evidence


@given(st.lists(st.floats(1, 1e6), min_size=6, max_size=40), st.sampled_from([0.25, 8.0, 4096.0]))
def test_the_unit_does_not_matter(samples: list[float], scale: float) -> None:
    assert detect([x * scale for x in samples]).runs == detect(samples).runs


@given(st.lists(st.floats(1, 1e6), min_size=6, max_size=40))
def test_at_most_half_of_a_run_is_called_warm_up(samples: list[float]) -> None:
    assert detect(samples).runs <= len(samples) // 2


def test_warming_up_ends_when_three_runs_agree() -> None:
    assert not settled([300.0, 120.0])
    assert not settled([300.0, 120.0, 101.0])
    assert settled([300.0, 120.0, 101.0, 100.0, 100.5])


def test_warming_up_goes_by_cpu_time_which_neighbours_do_not_move() -> None:
    assert steady(run_of([55.0, 55.1, 55.0], [300.0, 60.0, 170.0]))
    assert not steady([])
    assert not steady([qe(i, elapsed=None, resources=None) for i in range(5)])


def test_where_the_sum_over_processes_is_unknown_the_leader_s_time_stands_in() -> None:
    assert steady([replace(one, resources=None) for one in run_of([55.0, 55.1, 55.0], [300.0, 60.0, 170.0])])
