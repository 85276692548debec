"""Comparing two samples: what may change the answer and what may not."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from tare.protocol.compare import _rank, _u_counts, compare, shift
from tare.protocol.statistics import Interval

positive = st.lists(st.integers(1, 10**6).map(float), min_size=5, max_size=14)
factors = st.sampled_from([0.25, 2.0, 1024.0])


def noise(seed: int, n: int = 10, centre: float = 100.0, rsd: float = 0.02) -> list[float]:
    draw = random.Random(seed)
    return [centre * (1 + draw.gauss(0, rsd)) for _ in range(n)]


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_a_clear_slowdown_is_different_and_b_is_the_greater() -> None:
    found = compare(noise(1), noise(2, centre=110))
    assert (found.verdict, found.greater) == ("different", "B")
    assert found.ratio is not None
    assert found.ratio.estimate == pytest.approx(1.1, abs=0.02)
    assert found.cliffs_delta == 1


def test_equal_samples_are_undecided_without_a_margin() -> None:
    same = noise(1)
    found = compare(same, same)
    assert (found.verdict, found.greater, found.a12) == ("undecided", None, 0.5)


def test_one_far_out_run_changes_no_verdict() -> None:
    slow = noise(2, centre=110)
    assert compare([*noise(1)[:-1], 5000.0], slow).greater == "B"


def test_four_runs_each_give_an_estimate_and_no_verdict() -> None:
    found = compare([1.0, 1.1, 1.2, 1.3], [9.0, 9.1, 9.2, 9.3])
    assert found.difference.ci99 is None
    assert found.verdict == "undecided"


def test_a_measure_that_is_zero_has_a_difference_and_no_ratio() -> None:
    found = compare([0.0] * 10, [5.0, 6, 7, 8, 9, 5, 6, 7, 8, 9])
    assert (found.ratio, found.greater) == (None, "B")
    assert found.ratio_reason is not None


@pytest.mark.parametrize(
    ("centre", "margin", "verdict"),
    [
        (110, 0.05, ("different", "B")),
        (90, 0.05, ("different", "A")),
        (110, 0.3, ("equivalent", None)),
        (100, 0.05, ("equivalent", None)),
        (105, 0.05, ("undecided", None)),
    ],
)
def test_a_verdict_is_about_the_margin(centre: float, margin: float, verdict: tuple[str, str | None]) -> None:
    found = compare(noise(1), noise(2, centre=centre), margin=margin)
    assert (found.verdict, found.greater) == verdict


def test_a_margin_is_of_a_ratio_and_decides_nothing_where_there_is_none() -> None:
    found = compare([0.0] * 10, [5.0, 6, 7, 8, 9, 5, 6, 7, 8, 9], margin=0.05)
    assert (found.verdict, found.greater, found.runs_needed) == ("undecided", None, None)


@given(positive, positive, st.floats(0.001, 2))
def test_a_wider_margin_turns_no_verdict_round(a: list[float], b: list[float], margin: float) -> None:
    narrow, wide = (compare(a, b, margin=by).verdict for by in (margin, 1.5 * margin))
    assert (narrow, wide) not in [
        ("equivalent", "different"),
        ("equivalent", "undecided"),
        ("undecided", "different"),
    ]


def test_an_undecided_comparison_names_the_runs_that_would_decide() -> None:
    for centre, margin in ((103, 0.05), (107, 0.05), (101, 0.0)):
        found = compare(noise(1, rsd=0.05), noise(2, centre=centre, rsd=0.05), margin=margin)
        assert found.verdict == "undecided"
        assert found.runs_needed is not None
        assert found.runs_needed > 10
    same = noise(1)
    assert compare(same, same).runs_needed is None, "no number of runs shows that equals differ"


def test_the_p_of_a_claim_is_that_of_its_side_of_the_margin() -> None:
    a, b = noise(1), noise(2, centre=110)
    assert compare(a, b).p_of_claim == compare(a, b).p
    assert compare(a, b, margin=0.05).p_of_claim < 0.01 < compare(a, b, margin=0.1).p_of_claim
    assert compare(a, b, margin=0.3).p_of_claim < 0.001


def test_an_empty_side_is_refused() -> None:
    with pytest.raises(ValueError, match="each side"):
        compare([], [1.0])


@given(positive, positive, factors)
def test_scaling_b_scales_the_ratio(a: list[float], b: list[float], factor: float) -> None:
    one, other = compare(a, b).ratio, compare(a, [x * factor for x in b]).ratio
    assert other.estimate == pytest.approx(one.estimate * factor)
    assert ends(other.ci95) == pytest.approx([x * factor for x in ends(one.ci95)])


@given(positive, positive, st.integers(-(10**6), 10**6))
def test_shifting_b_shifts_the_difference(a: list[float], b: list[float], by: int) -> None:
    one, other = shift(a, b), shift(a, [x + by for x in b])
    assert other.estimate == one.estimate + by
    assert ends(other.ci95) == tuple(x + by for x in ends(one.ci95))


@given(positive, positive, factors)
def test_the_unit_changes_neither_ratio_nor_verdict_nor_p(
    a: list[float], b: list[float], unit: float
) -> None:
    one, other = compare(a, b), compare([x * unit for x in a], [x * unit for x in b])
    assert (other.verdict, other.p, other.cliffs_delta) == (one.verdict, one.p, one.cliffs_delta)
    assert other.ratio.estimate == pytest.approx(one.ratio.estimate)


@given(positive, positive)
def test_swapping_a_and_b_turns_everything_round(a: list[float], b: list[float]) -> None:
    one, other = compare(a, b), compare(b, a)
    assert other.difference.estimate == -one.difference.estimate
    assert ends(other.difference.ci95) == tuple(-x for x in reversed(ends(one.difference.ci95)))
    assert other.ratio.estimate == pytest.approx(1 / one.ratio.estimate)
    assert other.cliffs_delta == pytest.approx(-one.cliffs_delta)
    assert {one.greater, other.greater} in ({None}, {"A", "B"})
    assert other.p == pytest.approx(one.p)


@given(positive, positive, st.randoms())
def test_the_order_of_runs_does_not_matter(a: list[float], b: list[float], shuffler: random.Random) -> None:
    shuffled = a.copy()
    shuffler.shuffle(shuffled)
    assert compare(shuffled, b) == compare(a, b)


@given(positive, positive)
def test_the_wider_interval_holds_the_narrower_and_both_the_estimate(a: list[float], b: list[float]) -> None:
    found = shift(a, b)
    (low95, high95), (low99, high99) = ends(found.ci95), ends(found.ci99)
    assert low99 <= low95 <= found.estimate <= high95 <= high99


@given(st.data())
def test_the_verdict_and_mann_whitney_never_contradict_each_other(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(5, 10)), data.draw(st.integers(5, 10))
    values = data.draw(st.lists(st.integers(1, 10**6), min_size=n + m, max_size=n + m, unique=True))
    a, b = [float(x) for x in values[:n]], [float(x) for x in values[n:]]
    p = mannwhitneyu(a, b, method="exact").pvalue
    assume(abs(p - 0.01) > 1e-9)
    assert (compare(a, b).verdict == "different") == (p < 0.01)


def test_the_distribution_of_u_is_that_of_counting_all_orderings() -> None:
    n, m = 3, 4
    counted = [0] * (n * m + 1)
    for places in itertools.combinations(range(n + m), n):
        counted[sum(place - i for i, place in enumerate(places))] += 1
    assert _u_counts(n, m) == tuple(counted)


def test_ten_against_ten_leaves_the_ranks_of_the_tables() -> None:
    rank, coverage = _rank(((10, 10),), 0.95) or (0, 0.0)
    assert rank == 24  # the table's critical U of 23, plus one
    assert coverage >= 0.95


def test_blocks_share_one_distribution() -> None:
    """Two blocks of three against three: 400 orderings, counted one by one."""
    us = [sum(place - i for i, place in enumerate(places)) for places in itertools.combinations(range(6), 3)]
    below = [sum(u + v < rank for u in us for v in us) / 400 for rank in range(19)]
    rank, coverage = _rank(((3, 3), (3, 3)), 0.95) or (0, 0.0)
    assert coverage == pytest.approx(1 - 2 * below[rank])
    assert 2 * below[rank] <= 0.05 < 2 * below[rank + 1]


def test_a_machine_that_slows_down_does_not_hide_the_difference() -> None:
    slowing = [1.01**i for i in range(60)]
    found = compare([100 * x for x in slowing], [105 * x for x in slowing])
    assert found.greater == "B"
    assert found.ratio.estimate == pytest.approx(1.05, abs=0.005)
    assert found.p > 0.05  # which looks at all runs at once


def test_beyond_exact_counting_the_approximation_takes_over_smoothly() -> None:
    exact, approximate = _rank(((40, 40),), 0.95), _rank(((40, 41),), 0.95)
    assert exact is not None
    assert approximate is not None
    assert 0 <= approximate[0] - exact[0] <= 25
    assert approximate[1] == pytest.approx(0.95, abs=0.002)


def test_the_ratio_s_interval_is_that_of_the_logarithms() -> None:
    a, b = noise(5), noise(6, centre=104)
    on_logs = shift([math.log(x) for x in a], [math.log(x) for x in b])
    assert ends(compare(a, b).ratio.ci95) == pytest.approx([math.exp(x) for x in ends(on_logs.ci95)])
