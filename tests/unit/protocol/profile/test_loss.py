"""Losses over a whole profile, on planned windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tare.protocol.profile.found import Counter, Estimate, MarkersLoss
from tare.protocol.profile.loss import Activity, cycle_ns, loss, markers_loss, whole_loss
from tare.protocol.profile.measured import BARE, COUNTING, MARKERS, PROBED, Window

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("busy", "expected_us"),
    [
        (2.0, 20.0),  # no CPU is idle: 2 s of CPU time, 100,000 transactions
        (1.8, 20.0),
        (1.4, 2 / (1 / 20 + 1 / 50)),
        (1.0, 50.0),  # they wait for something else, which their duration shows
        (0.1, 50.0),
    ],
)
def test_throughput_is_lost_as_a_share_of_a_transaction_s_cycle(busy: float, expected_us: float) -> None:
    assert cycle_ns(50_000.0, 100_000.0, busy, 2) == pytest.approx(1e3 * expected_us)


def test_the_cycle_holds_what_the_client_computes() -> None:
    """A server that takes 10 us of 40: one connection, and a CPU to spare."""
    assert cycle_ns(10_000.0, 25_000.0, 1.0, 2) == pytest.approx(40_000.0)


def windows(*purposes: str, seconds: float = 1.0, round_: int = 1) -> list[Window]:
    step = round(seconds * SECOND)
    return [Window(place, place * step, (place + 1) * step, of, round_) for place, of in enumerate(purposes)]


def ends(of: list[Window], a_second: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Ends of transactions, in the windows in which they are seen."""
    seen = [one for one in of if one.purpose in (MARKERS, PROBED)]
    return np.concatenate(
        [np.linspace(one.begin_ns, one.end_ns - 1, round(a_second)).astype(np.int64) for one in seen]
    )


TURNS = windows(*[BARE, MARKERS, PROBED, PROBED, MARKERS, BARE] * 4)


def activity(waits: float, user_s: float, lost: float) -> dict[int, Activity]:
    """By window: what the kernel counts without any probe, less what the markers take."""
    left = {one.number: 1.0 if one.purpose == BARE else 1 - lost for one in TURNS}
    return {
        number: Activity(1.0, user_s * share, round(waits * share), 1.0) for number, share in left.items()
    }


def test_of_a_server_that_waits_the_waits_stand_for_its_transactions() -> None:
    found = markers_loss(ends(TURNS, 1_000), TURNS, activity(waits=10_000, user_s=0.1, lost=0.15))
    assert found is not None
    assert (found.by, found.pairs) == (Counter.WAITS, 8)
    assert found.figure.value == pytest.approx(0.15, abs=1e-3)


def test_of_a_program_that_computes_its_time_in_user_mode_does() -> None:
    """A few waits of other threads are not its transactions'."""
    found = markers_loss(ends(TURNS, 1_000), TURNS, activity(waits=20, user_s=0.9, lost=0.3))
    assert found is not None
    assert found.by is Counter.USER_TIME
    assert found.figure.value == pytest.approx(0.3, abs=1e-9)


def test_where_waits_contradict_the_time_in_user_mode_that_stands_for_transactions() -> None:
    """Threads of a MariaDB wait for each other more often the faster they are."""
    slower = {
        number: replace(one, waits=round(one.waits / 3)) if TURNS[number].purpose != BARE else one
        for number, one in activity(waits=10_000, user_s=0.9, lost=0.2).items()
    }
    found = markers_loss(ends(TURNS, 1_000), TURNS, slower)
    assert found is not None
    assert found.by is Counter.USER_TIME
    assert found.figure.value == pytest.approx(0.2, abs=1e-9)


def test_of_a_program_that_does_neither_nothing_is_measured() -> None:
    assert markers_loss(ends(TURNS, 1_000), TURNS, activity(waits=20, user_s=0.001, lost=0.3)) is None


def test_without_windows_of_both_kinds_nothing_is_measured() -> None:
    only = [one for one in TURNS if one.purpose != BARE]
    assert markers_loss(ends(only, 1_000), only, activity(waits=10_000, user_s=0.1, lost=0.1)) is None


TENTH = MarkersLoss(Estimate(0.10, 0.10, 0.10), Counter.WAITS, 8)


def test_losses_multiply_what_is_left_and_add_up_over_time() -> None:
    found = loss(
        TURNS,
        Estimate(0.20, 0.20, 0.20),
        TENTH,
        predicted={1: 0.25},
        predicted_markers=0.0,
        whole=None,
        counting_s=0.24,
        own_s=0.12,
        allowed_on=0.2,
    )
    assert found.on is not None
    assert found.on.value == pytest.approx(1 - 0.9 * 0.8)
    assert (found.probed_share, found.markers_share) == pytest.approx((1 / 3, 1 / 3))
    assert found.average is not None
    assert found.average.value == pytest.approx(0.28 / 3 + 0.10 / 3 + 0.01)
    assert found.predicted_on == pytest.approx(0.2)
    assert found.predicted_average == pytest.approx(0.2 / 3 + 0.01)
    assert (found.own, found.in_windows) == (pytest.approx(0.005), None), (
        "of which neither average holds anything"
    )


def test_windows_of_no_probe_and_of_rest_count_for_the_average() -> None:
    longer = [*TURNS, Window(99, TURNS[-1].end_ns, 2 * TURNS[-1].end_ns, "resting", 1)]
    short, long = (
        loss(
            of,
            Estimate(0.2, 0.1, 0.3),
            None,
            predicted={},
            predicted_markers=0.0,
            whole=None,
            counting_s=0,
            own_s=0,
            allowed_on=0.2,
        )
        for of in (TURNS, longer)
    )
    assert short.average is not None
    assert long.average is not None
    assert long.average.value == pytest.approx(short.average.value / 2)
    assert long.average.high - long.average.low == pytest.approx((short.average.high - short.average.low) / 2)


def test_markers_that_were_not_measured_are_taken_as_predicted() -> None:
    found = loss(
        TURNS,
        Estimate(0.0, 0.0, 0.0),
        None,
        predicted={},
        predicted_markers=0.25,
        whole=None,
        counting_s=0,
        own_s=0,
        allowed_on=0.2,
    )
    assert found.on is not None
    assert found.on.value == pytest.approx(found.predicted_markers) == pytest.approx(0.2)
    assert found.markers is None


def test_a_profile_without_a_pair_of_windows_has_no_figure() -> None:
    of = windows(COUNTING, BARE, MARKERS)
    found = loss(
        of,
        None,
        None,
        whole=None,
        predicted={},
        predicted_markers=0.1,
        counting_s=0.1,
        own_s=0,
        allowed_on=0.2,
    )
    assert (found.on, found.average) == (None, None)
    assert found.predicted_average > 0


# Over all of it --------------------------------------------------------------------------
def counts(rate: float, seconds: float = 1.0) -> Activity:
    return Activity(seconds, 0.0, round(rate * seconds), 0.0)


def whole(left: float, between: float, swing: float = 0.0) -> Estimate | None:
    """Loss where windows with probes keep `left` of 10,000 waits a second, and the time between windows `between`.
    `swing`: share by which every second group of windows is faster, and the other slower."""
    load = {one.number: 10_000 * (1 + swing * (1 if one.number % 12 < 6 else -1)) for one in TURNS}
    within = {one.number: counts(load[one.number] * (1.0 if one.purpose == BARE else left)) for one in TURNS}
    return whole_loss(
        TURNS,
        within,
        {one.number: counts(load[one.number] * between, seconds=0.5) for one in TURNS},
        Counter.WAITS,
    )


def test_what_is_lost_between_windows_is_part_of_the_whole() -> None:
    """A third of the windows is bare: of 1.5 s each, 1 s is a window."""
    found = whole(left=0.9, between=0.6)
    assert found is not None
    assert found.value == pytest.approx((2 / 3 * 0.1 * 1.0 + 0.4 * 0.5) / 1.5, abs=1e-3)
    assert found.low == pytest.approx(found.value, abs=0.02)
    assert found.high == pytest.approx(found.value, abs=0.02)


def test_the_whole_of_a_load_that_swings_is_less_sure() -> None:
    steady, swinging = whole(0.9, 0.6), whole(0.9, 0.6, swing=0.5)
    assert steady is not None
    assert swinging is not None
    assert swinging.high - swinging.low > 2 * (steady.high - steady.low)
    assert swinging.low < steady.value < swinging.high


def test_nothing_lost_is_nothing_lost() -> None:
    found = whole(1.0, 1.0)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0, 0, 0), abs=1e-6)


def test_without_enough_windows_with_no_probe_the_whole_is_not_measured() -> None:
    few = TURNS[:16]  # three stretches
    given = {one.number: counts(10_000) for one in few}
    assert whole_loss(few, given, {}, Counter.WAITS) is None
    assert whole_loss(TURNS, {}, {}, Counter.WAITS) is None


def test_the_whole_stands_in_the_place_of_what_windows_took() -> None:
    measured = Estimate(0.3, 0.25, 0.35)
    found = loss(
        TURNS,
        Estimate(0.2, 0.2, 0.2),
        TENTH,
        whole=measured,
        predicted={},
        predicted_markers=0.0,
        counting_s=0,
        own_s=0.12,
        allowed_on=0.2,
    )
    assert found.average == measured
    assert found.in_windows is not None
    assert found.in_windows.value == pytest.approx(0.28 / 3 + 0.10 / 3)
    assert found.predicted_average == pytest.approx(found.own) == pytest.approx(0.005)
