"""Verdict for each arm and objective: the arm over the baseline, paired by block, with the A/A floor beside it.

The unit is the block. An arm is better or worse if, after Holm's correction over the arms, its ratio differs from 1,
it lies further from 1 than that of the two baselines, and these two do not differ themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.protocol.comparison.blocks import RatioEstimate, blocks_to_decide, ratio_over_blocks
from tare.protocol.comparison.holm import holm

LEVEL = 0.05
MARGIN = 0.1
"""Distance from 1 within which a difference does not matter."""


class Objective(StrEnum):
    """Figure of a window that an arm is judged by."""

    VARIANCE = "variance"
    SD = "sd"
    MEAN = "mean"
    P50 = "p50"
    P99 = "p99"
    P99_9 = "p99.9"
    NORM = "norm"
    THROUGHPUT = "throughput"

    @property
    def figure(self) -> str:
        """Field of `Figures`."""
        return self.value.replace(".", "_")

    @property
    def more_is_better(self) -> bool:
        return self is Objective.THROUGHPUT


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "no difference"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Judged:
    """An arm by one objective. `estimate`: arm / baseline; None: fewer than two blocks have both figures."""

    verdict: Verdict
    estimate: RatioEstimate | None
    p: float | None  # after Holm's correction
    blocks_needed: int | None  # in all, if ratio and spread stay as they are; None: decided, or out of reach


@dataclass(frozen=True, slots=True)
class Floor:
    """The baseline's copy over the baseline."""

    estimate: RatioEstimate | None

    @property
    def holds_1(self) -> bool:
        return self.estimate is not None and self.estimate.low <= 1 <= self.estimate.high

    def exceeds(self, estimate: RatioEstimate) -> bool:
        """Whether the two baselines differ by as much as an arm does."""
        return self.estimate is None or abs(math.log(self.estimate.ratio)) >= abs(math.log(estimate.ratio))


def paired(baseline: Sequence[float | None], arm: Sequence[float | None]) -> RatioEstimate | None:
    """Ratio over the blocks in which both have a positive figure."""
    pairs = [
        (b, a)
        for b, a in zip(baseline, arm, strict=True)
        if b is not None and a is not None and min(a, b) > 0
    ]
    return ratio_over_blocks([b for b, _ in pairs], [a for _, a in pairs])


def judge(
    objective: Objective, estimates: Mapping[str, RatioEstimate | None], floor: Floor, margin: float = MARGIN
) -> dict[str, Judged]:
    """Judge arms, by name."""
    corrected = holm({name: _p(found) for name, found in estimates.items() if found is not None})
    confidence = 1 - LEVEL / max(1, len(corrected))  # at least what Holm's correction asks of any arm
    return {
        name: _judged(objective, found, corrected.get(name), floor, margin, confidence)
        for name, found in estimates.items()
    }


def _judged(
    objective: Objective,
    found: RatioEstimate | None,
    p: float | None,
    floor: Floor,
    margin: float,
    confidence: float,
) -> Judged:
    if found is None or p is None:
        return Judged(Verdict.NOT_MEASURED, None, None, None)
    if p < LEVEL and floor.holds_1 and not floor.exceeds(found):
        is_better = (found.ratio > 1) is objective.more_is_better
        return Judged(Verdict.BETTER if is_better else Verdict.WORSE, found, p, None)
    if found.low > 1 / (1 + margin) and found.high < 1 + margin:
        return Judged(Verdict.EQUIVALENT, found, p, None)
    return Judged(Verdict.UNDECIDED, found, p, blocks_to_decide(found, margin, confidence))


def _p(found: RatioEstimate) -> float:
    """Two-sided, of Student's t over the blocks' log ratios."""
    if found.spread == 0:
        return 1.0 if found.ratio == 1 else 0.0
    t = abs(math.log(found.ratio)) / (found.spread / math.sqrt(found.blocks))
    from scipy.special import stdtr  # slow to load

    return 2 * float(stdtr(found.blocks - 1, -t))
