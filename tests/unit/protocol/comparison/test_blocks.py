"""Ratios over blocks: they do not depend on units, on the blocks' level, or on which arm is called the baseline."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from tare.protocol.comparison.blocks import WIDEST, RatioEstimate, blocks_to_decide, ratio_over_blocks

FIGURE = st.floats(min_value=0.01, max_value=1e6)
PAIRS = st.lists(st.tuples(FIGURE, FIGURE), min_size=2, max_size=40)


@given(PAIRS, FIGURE)
def test_a_level_that_all_arms_of_a_block_share_changes_nothing(
    pairs: list[tuple[float, float]], level: float
) -> None:
    plain = ratio_over_blocks([a for a, _ in pairs], [b for _, b in pairs])
    scaled = ratio_over_blocks([a * level for a, _ in pairs], [b * level for _, b in pairs])
    assume(plain is not None and scaled is not None)
    assert plain is not None
    assert scaled is not None
    assert scaled.ratio == pytest.approx(plain.ratio)
    assert scaled.low == pytest.approx(plain.low, rel=1e-6)


@given(PAIRS)
def test_the_inverse_ratio_has_the_inverse_interval(pairs: list[tuple[float, float]]) -> None:
    a, b = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = ratio_over_blocks(a, b), ratio_over_blocks(b, a)
    assert (there is None) == (back is None)
    assume(there is not None and back is not None)
    assert there is not None
    assert back is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.low == pytest.approx(1 / there.high)


@given(PAIRS, st.sampled_from([0.9, 0.95, 0.99]))
@example([(1.0, 33202.0), (149278.0, 1.0)], 0.99)
def test_the_interval_is_students_of_the_log_ratios(
    pairs: list[tuple[float, float]], confidence: float
) -> None:
    estimate = ratio_over_blocks([a for a, _ in pairs], [b for _, b in pairs], confidence)
    logs = [math.log(b / a) for a, b in pairs]
    expected = stats.ttest_1samp(logs, 0).confidence_interval(confidence) if len(set(logs)) > 1 else None
    is_wide = expected is not None and (expected.high - expected.low) / 2 > WIDEST
    assert (estimate is None) == is_wide
    if estimate is not None and expected is not None and math.isfinite(expected.low):
        assert math.log(estimate.low) == pytest.approx(expected.low, rel=1e-6, abs=1e-6)
        assert math.log(estimate.high) == pytest.approx(expected.high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0]), ([1.0, 0.0], [1.0, 1.0]), ([1.0, 2.0], [1.0, -1.0])])
def test_one_block_and_figures_that_are_not_positive_have_no_ratio(a: list[float], b: list[float]) -> None:
    assert ratio_over_blocks(a, b) is None


def test_arms_with_other_numbers_of_blocks_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="zip"):
        ratio_over_blocks([1.0, 2.0], [1.0])


@given(st.floats(min_value=0.8, max_value=1.2), st.floats(min_value=0.001, max_value=0.2))
def test_as_many_blocks_as_are_named_decide_and_one_fewer_does_not(ratio: float, spread: float) -> None:
    estimate = RatioEstimate(ratio, ratio / 1.1, ratio * 1.1, 6, 0.95, spread)
    centre = abs(math.log(ratio))
    room = max(centre, math.log(1.05) - centre)

    def half_width(blocks: int) -> float:
        return float(stats.t.ppf(0.995, blocks - 1)) * spread / math.sqrt(blocks)

    needed = blocks_to_decide(estimate, 0.05, 0.99)
    if needed is None:
        assert half_width(9_000) >= room
        return
    assert half_width(needed) < room
    assert needed > 6
    assert needed == 7 or needed > 50 or half_width(needed - 1) >= room
