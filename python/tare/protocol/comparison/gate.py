"""Gate on a slowdown: three verdicts, a noise floor measured beside them, and looks whose error rate holds.

Every block runs the baseline twice. The ratio of its two copies is the noise floor: an interval of theirs that
reaches beyond the margin says that this machine cannot see so small a change now.

A gate looks after 6 blocks and then at block numbers that grow by half. Its k-th look has the level
ALPHA / (k (k + 1)); these sum to ALPHA over any number of looks, so by the union bound no number of looks makes a
wrong verdict likelier than ALPHA. Gates on several queries share ALPHA in equal parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.protocol.comparison.blocks import RatioEstimate, blocks_until, ratio_over_blocks

ALPHA = 0.05
FIRST_LOOK = 6
GROWTH = 1.5


class Verdict(StrEnum):
    SLOWER = "slower"  # the interval lies beyond the margin
    NOT_SLOWER = "not slower"  # the interval lies below the margin
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Look:
    """State of a gate after some blocks. `change`, `floor`: None below two blocks, or without positive figures."""

    number: int  # of the look, from 1
    blocks: int
    verdict: Verdict
    change: RatioEstimate | None  # candidate / baseline
    floor: RatioEstimate | None  # baseline / baseline
    blocks_needed: (
        int | None
    )  # to decide, if ratio and spread stay as they are; None: decided, or out of reach


def look_at(number: int) -> int:
    """Blocks at which the look of this number, from 1, is taken."""
    blocks = FIRST_LOOK
    for _ in range(number - 1):
        blocks = math.ceil(blocks * GROWTH)
    return blocks


def confidence(number: int, gates: int = 1) -> float:
    """Confidence of the intervals at the look of this number, of one of several gates."""
    return 1 - ALPHA / (gates * number * (number + 1))


def look(
    number: int,
    baseline: Sequence[float],
    again: Sequence[float],
    candidate: Sequence[float],
    margin: float,
    gates: int = 1,
) -> Look:
    """Judge whether the candidate is slower by more than `margin` (0.05: 5%). `again`: the baseline's second copy;
    `gates`: those that share the error rate.

    Each sequence has one figure for each block, larger being slower."""
    level = confidence(number, gates)
    change = ratio_over_blocks(baseline, candidate, level)
    floor = ratio_over_blocks(baseline, again, level)
    verdict = _verdict(change, floor, margin)
    needed = None
    if verdict is Verdict.UNDECIDED and change is not None and floor is not None:
        limit = math.log1p(margin)
        for_change = blocks_until(change, abs(limit - math.log(change.ratio)), level)
        for_floor = blocks_until(floor, limit - abs(math.log(floor.ratio)), level)
        needed = None if for_change is None or for_floor is None else max(for_change, for_floor)
    return Look(number, len(baseline), verdict, change, floor, needed)


def _verdict(change: RatioEstimate | None, floor: RatioEstimate | None, margin: float) -> Verdict:
    if change is None or floor is None:
        return Verdict.UNDECIDED
    if change.low > 1 + max(margin, floor.distance):
        return Verdict.SLOWER
    if floor.distance <= margin and change.high < 1 + margin:
        return Verdict.NOT_SLOWER
    return Verdict.UNDECIDED
