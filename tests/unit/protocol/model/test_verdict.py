from __future__ import annotations

import pytest

from tare.protocol.model.result import Level, Verdict
from tare.protocol.model.verdict import level, verdict


@pytest.mark.parametrize(
    ("r", "found"),
    [
        (1.0, Level.HIGH),
        (0.7, Level.HIGH),
        (0.6999, Level.MEDIUM),
        (0.3, Level.MEDIUM),
        (0.2999, Level.LOW),
        (0.0, Level.LOW),
    ],
)
def test_levels_begin_at_their_lower_bound(r: float, found: Level) -> None:
    assert level(r) is found


@pytest.mark.parametrize(
    ("predicted", "r", "found"),
    [
        (Level.HIGH, 0.9, Verdict.EXACT),
        (Level.HIGH, 0.5, Verdict.CLOSE),
        (Level.HIGH, 0.1, Verdict.OFF),
        (Level.MEDIUM, 0.9, Verdict.CLOSE),
        (Level.MEDIUM, 0.1, Verdict.CLOSE),
        (Level.LOW, 0.9, Verdict.OFF),
        (Level.LOW, 0.1, Verdict.EXACT),
    ],
)
def test_a_verdict_is_the_distance_of_levels(predicted: Level, r: float, found: Verdict) -> None:
    assert verdict(predicted, r, 0.0) is found


def test_what_may_be_chance_is_not_judged() -> None:
    assert verdict(Level.HIGH, 0.9, 0.05) is Verdict.NOT_SIGNIFICANT
    assert verdict(Level.HIGH, 0.9, 0.0499) is Verdict.EXACT


def test_a_negative_correlation_contradicts_even_a_low_prediction() -> None:
    assert verdict(Level.LOW, -0.1, 0.001) is Verdict.OFF
    assert verdict(Level.LOW, -0.1, 0.2) is Verdict.NOT_SIGNIFICANT
