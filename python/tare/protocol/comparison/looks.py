"""Looks at a comparison while its blocks are measured, with verdicts whose error rate holds however often one looks.

Every block runs the baseline twice. The ratio of its two copies is the noise floor: an interval of theirs that
reaches beyond the margin shows that this machine cannot see so small a change now.

Looks are planned: after 6 blocks, and then at block numbers that grow by half. The k-th look draws its verdict from
Student's t interval of the blocks' log ratios at the level ALPHA / (k (k + 1)). These levels sum to ALPHA over any
number of looks, so by the union bound the chance that any look gives a wrong verdict is at most ALPHA, and all
intervals hold together with 1 - ALPHA: the interval of the look at which a run ends holds although the data chose
that look. This needs block ratios that are independent and normal on the logarithm, at any number of blocks;
`benchmarks/comparison_simulation.py` measures the error rate where they are neither. Comparisons of several queries
share ALPHA in equal parts.

Spending an error rate over looks: K. K. G. Lan and D. L. DeMets, Discrete sequential boundaries for clinical trials,
Biometrika 70 (1983). Their boundaries use the correlation of successive looks and are narrower; they need the largest
number of blocks beforehand, and the normal distribution in the place of Student's t. The union bound needs neither.

Price: the interval of a look is wider than the 95% interval of a number of blocks that was fixed beforehand, by 1.23
after 6 blocks, 1.5 after 9, 1.6 after 14, and 1.7 after 48. Near the margin up to three times as many blocks are
needed as by a fixed number that was chosen right, and up to four times without a margin, where the noise floor has to
be exceeded; a large difference needs 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

from tare.protocol.comparison.blocks import RatioEstimate, projected, ratio_over_blocks

ALPHA = 0.05
FIRST_LOOK = 6
GROWTH = 1.5
MOST_BLOCKS = 200
"""Blocks of a run; a decision that needs more is out of reach."""


class Question(StrEnum):
    SLOWER = "slower"  # by more than the margin, or not
    DIFFERENT = "different"  # by more than the margin either way, or equivalent within it


class Verdict(StrEnum):
    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    DIFFERENT = "different"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Claim:
    """Question that a comparison answers, and the change that does not matter: 0.05 for 5%; 0: any matters."""

    question: Question
    margin: float

    def judge(self, change: RatioEstimate, floor: RatioEstimate) -> Verdict:
        """Return the verdict. `change`: candidate / baseline; `floor`: baseline / baseline.

        The change must lie beyond the noise floor as well as beyond the margin; within the margin, so must the floor.
        """
        beyond = 1 + max(self.margin, floor.distance)
        is_fine = self.margin > 0 and floor.distance <= self.margin
        if self.question is Question.SLOWER:
            if change.low > beyond:
                return Verdict.SLOWER
            if is_fine and change.high < 1 + self.margin:
                return Verdict.NOT_SLOWER
            return Verdict.UNDECIDED
        if change.low > beyond or change.high < 1 / beyond:
            return Verdict.DIFFERENT
        if is_fine and change.distance < self.margin:
            return Verdict.EQUIVALENT
        return Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class Look:
    """State of a comparison after some blocks. `change`, `floor`: None below two blocks, or without positive
    figures."""

    number: int  # of the look, from 1
    blocks: int
    verdict: Verdict
    change: RatioEstimate | None  # candidate / baseline
    floor: RatioEstimate | None  # baseline / baseline
    blocks_needed: int | None  # in all, if ratios and spreads stay; None: decided, or out of reach


def look_at(number: int) -> int:
    """Blocks at which the look of this number, from 1, is taken."""
    blocks = FIRST_LOOK
    for _ in range(number - 1):
        blocks = math.ceil(blocks * GROWTH)
    return blocks


def confidence(number: int, comparisons: int = 1) -> float:
    """Confidence of the intervals at the look of this number, of one of several comparisons."""
    return 1 - ALPHA / (comparisons * number * (number + 1))


def look(
    number: int,
    baseline: Sequence[float],
    again: Sequence[float],
    candidate: Sequence[float],
    claim: Claim,
    comparisons: int = 1,
) -> Look:
    """Judge the candidate against the baseline. `again`: the baseline's second copy; `comparisons`: those that share
    the error rate.

    Each sequence has one figure for each block, larger being slower."""
    level = confidence(number, comparisons)
    change = ratio_over_blocks(baseline, candidate, level)
    floor = ratio_over_blocks(baseline, again, level)
    verdict = Verdict.UNDECIDED
    needed = None
    if change is not None and floor is not None:
        verdict = claim.judge(change, floor)
        needed = _needed(claim, change, floor, comparisons) if verdict is Verdict.UNDECIDED else None
    return Look(number, len(baseline), verdict, change, floor, needed)


def _needed(claim: Claim, change: RatioEstimate, floor: RatioEstimate, comparisons: int) -> int | None:
    """Blocks at the first later look that would decide; None: more than `MOST_BLOCKS`."""
    for number in count(1):
        blocks = look_at(number)
        if blocks > MOST_BLOCKS:
            break
        if blocks > change.blocks:
            level = confidence(number, comparisons)
            then = claim.judge(projected(change, blocks, level), projected(floor, blocks, level))
            if then is not Verdict.UNDECIDED:
                return blocks
    return None
