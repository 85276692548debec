"""The price of a probe: stated, until a server has shown another."""

from __future__ import annotations

import pytest

from tare.profile.costs import STEP, Price, weighed
from tare.protocol.profile.refinement import Costs
from tests.unit.profile.doubles import Clock, NoRecorder, recording

MEAN_NS = 1e6
PRICE = Price(1_000.0)


@pytest.mark.parametrize(
    ("low", "high", "pair_ns"),
    [
        (-0.01, 0.2, 1_000.0),
        (0.04, 0.06, 1_000.0),
        (0.075, 0.20, 1_500.0),
        (0.01, 0.035, 700.0),
        (0.50, 0.90, 2_000.0),
        (0.00, 0.001, 500.0),
    ],
)
def test_a_stated_price_stays_unless_the_interval_rules_it_out(
    low: float, high: float, pair_ns: float
) -> None:
    learnt = PRICE.learnt(low, high, 50, MEAN_NS)
    assert learnt.pair_ns == pytest.approx(pair_ns)
    assert learnt.measured == (pair_ns != PRICE.pair_ns)


def test_an_interval_below_nothing_teaches_nothing() -> None:
    assert PRICE.learnt(-0.2, -0.1, 50, MEAN_NS) == PRICE


def test_without_events_nothing_is_learnt() -> None:
    assert PRICE.learnt(0.1, 0.2, 0, MEAN_NS) == PRICE


def test_a_backend_nobody_has_weighed_is_taken_for_a_dear_one() -> None:
    assert Price.of("ptrace").pair_ns >= Price.of("attach").pair_ns


def test_a_probe_that_is_stepped_over_is_priced_as_several_usual_ones() -> None:
    clock = Clock()
    recorder = NoRecorder(clock, {}, {})
    recorder.stepped_over = {2: (False, True), 3: (True, True)}
    kept = recording(recorder, clock)
    costs = Costs({1: 2.0, 2: 2.0, 3: 2.0}, 1_000.0, 1e6, kept.weight)
    assert costs.of(2) == pytest.approx((1 + STEP) * costs.of(1))
    assert costs.of(3) == pytest.approx((1 + 2 * STEP) * costs.of(1))
    assert costs.predicted([1, 2]) == pytest.approx((2 + STEP) * 0.002)
    assert [kept.entry_weight(one) for one in (1, 2, 3)] == pytest.approx([0.5, 0.5, 0.5 + STEP])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.15, 0.25, 0.042),  # four pairs of windows say little
        (0.06, 0.18, 0.064),  # more of them say more
        (0.09, 0.11, 0.096),  # and may contradict
        (-0.02, -0.01, 0.0),
    ],
)
def test_a_prediction_gives_way_to_what_is_measured_by_its_certainty(
    low: float, high: float, expected: float
) -> None:
    assert weighed(0.04, low, high) == pytest.approx(expected, abs=0.002)
