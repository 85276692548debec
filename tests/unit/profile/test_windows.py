"""How the windows of a round share its time."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest

from tare.profile.windows import BARE, CHANGES, MARKERS, PROBED, Duty, Turn, turns
from tare.protocol.profile.paired import SIGNED_RANKS

KINDS = {PROBED, MARKERS, BARE}
CHEAP = Duty(on=0.02, markers=0.005, budget=0.05)


def in_all(windows: list[Turn], purpose: str) -> float:
    return sum(one.seconds for one in windows if one.purpose == purpose)


@pytest.mark.parametrize("seed", range(8))
def test_each_group_is_turned_the_other_way_than_the_one_before(seed: int) -> None:
    purposes = [one.purpose for one in turns(30.0, Random(seed), CHEAP)]
    groups = [tuple(purposes[place : place + 3]) for place in range(0, len(purposes), 3)]
    assert all(set(group) == KINDS for group in groups)
    assert all(group == following[::-1] for group, following in itertools.pairwise(groups))


def test_windows_whose_transactions_are_compared_are_of_one_length() -> None:
    assert len({one.seconds for one in turns(30.0, Random(0), CHEAP) if one.purpose != BARE}) == 1


@pytest.mark.parametrize("seconds", [1.0, 3.0, 7.0, 30.0, 600.0])
def test_a_round_lasts_as_long_as_it_should(seconds: float) -> None:
    assert sum(one.seconds for one in turns(seconds, Random(0), CHEAP)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("on", "markers", "budget"), [(0.2, 0.0, 0.05), (0.2, 0.15, 0.05), (0.05, 0.01, 0.05), (0.6, 0.3, 0.2)]
)
def test_the_loss_averaged_over_a_round_is_within_the_budget(
    on: float, markers: float, budget: float
) -> None:
    duty = Duty(on, markers, budget)
    windows = turns(60.0, Random(0), duty)
    lost = on * in_all(windows, PROBED) + markers * in_all(windows, MARKERS)
    assert lost / 60.0 <= budget + 1e-9
    assert duty.allowed_on >= on - markers - 1e-9


def test_the_last_round_has_as_many_pairs_as_an_interval_needs() -> None:
    """An interval of two to five pairs rests on a prior, which alone makes it wider than 20 points."""
    assert Counter(one.purpose for one in turns(8.0, Random(0), CHEAP))[PROBED] == SIGNED_RANKS
    assert Counter(one.purpose for one in turns(8.0, Random(0), CHEAP, last=False))[PROBED] == 3


def test_long_windows_without_probes_leave_a_last_round_its_pairs() -> None:
    """A budget of 5% has little left at the end, and probes take 17%: 30 s have room for six pairs of short windows."""
    windows = turns(30.0, Random(0), Duty(on=0.17, markers=0.12, budget=0.0125), change_s=0.07)
    assert Counter(one.purpose for one in windows)[PROBED] == SIGNED_RANKS


def test_changes_of_probes_take_their_time_from_the_windows() -> None:
    windows = turns(12.0, Random(0), CHEAP, change_s=0.1)
    assert sum(one.seconds + 0.1 for one in windows) == pytest.approx(12.0)


def test_windows_are_no_shorter_than_is_of_use_however_long_a_change_takes() -> None:
    windows = turns(6.0, Random(0), CHEAP, change_s=0.2)
    assert min(one.seconds for one in windows if one.purpose != BARE) >= 0.3


@pytest.mark.parametrize("markers", [0.005, 0.23])
def test_a_short_round_lasts_longer_rather_than_that_its_windows_shrink(markers: float) -> None:
    """At 5% on a server whose markers take 23%, windows of 18 ms left 40% of a minute to changes of probes."""
    windows = turns(1.0, Random(0), Duty(on=0.25, markers=markers, budget=0.025), change_s=0.12, last=False)
    assert min(one.seconds for one in windows if one.purpose != BARE) == pytest.approx(CHANGES * 0.12)
    assert Counter(one.purpose for one in windows)[PROBED] == 2


def test_quick_changes_of_probes_leave_a_short_round_as_short_as_it_was_to_be() -> None:
    """A search of six rounds within 14 s reaches the fifth only so."""
    windows = turns(1.3, Random(0), CHEAP, change_s=0.05, last=False)
    assert sum(one.seconds for one in windows) + 6 * 0.05 == pytest.approx(1.3)


def test_without_time_for_so_many_pairs_there_are_two() -> None:
    assert Counter(one.purpose for one in turns(1.0, Random(0), CHEAP))[PROBED] == 2


def test_a_backend_whose_markers_cost_nothing_has_no_window_without_a_probe() -> None:
    assert {one.purpose for one in turns(30.0, Random(0))} == {PROBED, MARKERS}
