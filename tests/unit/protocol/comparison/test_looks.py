"""Looks at a comparison: verdicts never tighter than the noise floor, with an error rate that holds at any look."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from tare.protocol.comparison.looks import ALPHA, Claim, Question, Verdict, confidence, look, look_at

SLOWER = Claim(Question.SLOWER, 0.05)
DIFFERENT = Claim(Question.DIFFERENT, 0.05)
ANY_DIFFERENCE = Claim(Question.DIFFERENT, 0.0)


def arms(seed: int, blocks: int, ratio: float, noise: float) -> tuple[list[float], list[float], list[float]]:
    """Figures of blocks: each has a level of its own, and each arm its noise."""
    draw = random.Random(seed)
    baseline, again, candidate = [], [], []
    for _ in range(blocks):
        level = draw.lognormvariate(3, 0.3)
        baseline.append(level * draw.lognormvariate(0, noise))
        again.append(level * draw.lognormvariate(0, noise))
        candidate.append(level * ratio * draw.lognormvariate(0, noise))
    return baseline, again, candidate


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.2, Verdict.SLOWER), (1.0, Verdict.NOT_SLOWER), (0.8, Verdict.NOT_SLOWER), (1.05, Verdict.UNDECIDED)],
)
def test_a_clear_slowdown_fails_and_its_absence_passes(ratio: float, verdict: Verdict) -> None:
    assert look(1, *arms(1, 12, ratio, 0.01), SLOWER).verdict is verdict


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (1.2, Verdict.DIFFERENT),
        (0.8, Verdict.DIFFERENT),
        (1.0, Verdict.EQUIVALENT),
        (1.05, Verdict.UNDECIDED),
        (1 / 1.05, Verdict.UNDECIDED),
    ],
)
def test_a_change_either_way_is_different_beyond_the_margin_and_equivalent_within(
    ratio: float, verdict: Verdict
) -> None:
    assert look(1, *arms(1, 12, ratio, 0.01), DIFFERENT).verdict is verdict


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert look(1, *arms(1, 100, 1.0, 0.001), ANY_DIFFERENCE).verdict is Verdict.UNDECIDED
    assert look(1, *arms(1, 12, 1.05, 0.01), ANY_DIFFERENCE).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("claim", [Claim(Question.SLOWER, 0.02), Claim(Question.DIFFERENT, 0.02)])
def test_a_margin_tighter_than_the_noise_floor_decides_nothing_and_says_how_many_blocks_would(
    claim: Claim,
) -> None:
    noisy = look(1, *arms(2, 6, 1.0, 0.05), claim)
    assert noisy.verdict is Verdict.UNDECIDED
    assert noisy.floor is not None
    assert noisy.floor.distance > 0.02
    assert noisy.blocks_needed is None or noisy.blocks_needed > 6


def test_as_many_blocks_as_are_named_are_those_of_the_first_look_that_would_decide() -> None:
    signs = [1, -1] * 3
    again = [math.exp(0.02 * sign) for sign in signs]
    candidate = [1.08 * math.exp(0.03 * sign) for sign in signs]
    undecided = look(1, [1.0] * 6, again, candidate, DIFFERENT)
    assert (undecided.verdict, undecided.blocks_needed) == (Verdict.UNDECIDED, 21)
    longer = look(4, [1.0] * 21, [*again * 3, *again[:3]], [*candidate * 3, *candidate[:3]], DIFFERENT)
    assert longer.verdict is Verdict.DIFFERENT


def test_a_change_far_beyond_the_floor_is_seen_through_it() -> None:
    for question, verdict in ((Question.SLOWER, Verdict.SLOWER), (Question.DIFFERENT, Verdict.DIFFERENT)):
        assert look(1, *arms(3, 6, 3.0, 0.05), Claim(question, 0.02)).verdict is verdict


def test_levels_of_all_looks_together_stay_below_alpha() -> None:
    assert sum(1 - confidence(number) for number in range(1, 10_000)) <= ALPHA


def test_looks_come_at_growing_numbers_of_blocks() -> None:
    assert [look_at(number) for number in (1, 2, 3, 4)] == [6, 9, 14, 21]


def test_without_a_figure_there_is_no_verdict() -> None:
    assert look(1, [1.0], [1.0], [1.0], SLOWER).verdict is Verdict.UNDECIDED


def ended(seed: int, ratio: float, claim: Claim, looks: int = 7) -> Verdict:
    """Verdict of a run that is looked at until it is decided. Blocks have a level that drifts, and noise with heavy
    tails."""
    draw = random.Random(seed)
    level = 0.0
    figures: list[list[float]] = [[], [], []]
    for _ in range(look_at(looks)):
        level = 0.9 * level + draw.gauss(0, 0.05)
        for arm, own in enumerate(figures):
            # Student's t with 3 degrees of freedom.
            heavy = draw.gauss(0, 1) / (draw.gammavariate(1.5, 2) / 3) ** 0.5
            own.append((ratio if arm == 2 else 1.0) * math.exp(level + 0.01 * heavy))
    for number in range(1, looks + 1):
        baseline, again, candidate = (own[: look_at(number)] for own in figures)
        found = look(number, baseline, again, candidate, claim)
        if found.verdict is not Verdict.UNDECIDED:
            break
    return found.verdict


def shares(ratio: float, claim: Claim, runs: int = 300) -> Counter[Verdict]:
    return Counter(ended(seed, ratio, claim) for seed in range(runs))


def test_of_equals_that_are_looked_at_seven_times_at_most_one_in_twenty_is_called_different() -> None:
    assert shares(1.0, ANY_DIFFERENCE) == {Verdict.UNDECIDED: 300}
    assert shares(1.0, DIFFERENT) == {Verdict.EQUIVALENT: 300}


def test_at_the_margin_itself_at_most_one_in_twenty_is_decided() -> None:
    found = shares(1.05, DIFFERENT)
    assert found[Verdict.DIFFERENT] + found[Verdict.EQUIVALENT] <= 15


def test_twice_the_margin_is_found() -> None:
    assert shares(1.1, DIFFERENT) == {Verdict.DIFFERENT: 300}
