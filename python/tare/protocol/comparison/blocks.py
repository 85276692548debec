"""Ratio of a candidate to its baseline over blocks.

A block holds every arm, in random order: executions in one session, or windows of one load. What varies from session
to session meets all arms of a block alike or widens the interval; executions within a block are not independent, so
the block is the unit, never the execution. A block's log ratio is one sample, and Student's t gives the interval of
their mean: `benchmarks/comparison_simulation.py` measures its coverage on autocorrelated noise with heavy tails.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 2
WIDEST = 200.0  # half an interval of a logarithm, beyond which it says nothing and its ends leave the range of numbers
MOST = 10_000  # blocks beyond which a decision is called out of reach


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """Geometric mean over blocks of candidate / baseline, with its interval."""

    ratio: float
    low: float
    high: float
    blocks: int
    confidence: float
    spread: float  # standard deviation of the blocks' log ratios

    @property
    def distance(self) -> float:
        """The larger distance of the interval's ends from 1, as a factor minus 1."""
        return max(self.high, 1 / self.low) - 1


def ratio_over_blocks(
    baseline: Sequence[float], candidate: Sequence[float], confidence: float = 0.95
) -> RatioEstimate | None:
    """Estimate candidate / baseline; both have one figure for each block, in the same order.

    None below two blocks, where a figure is not positive, and where the interval is wider than `WIDEST`.
    Raises ValueError for unequal lengths."""
    pairs = list(zip(baseline, candidate, strict=True))
    if len(pairs) < FEWEST or min(min(pair) for pair in pairs) <= 0:
        return None
    logs = [math.log(b / a) for a, b in pairs]
    centre, spread = statistics.fmean(logs), statistics.stdev(logs)
    if _half_width(len(logs), spread, confidence) > WIDEST:
        return None
    return _estimate(centre, len(logs), spread, confidence)


def projected(estimate: RatioEstimate, blocks: int, confidence: float) -> RatioEstimate:
    """Return the estimate after another number of blocks, at another confidence, if ratio and spread stay."""
    return _estimate(math.log(estimate.ratio), blocks, estimate.spread, confidence)


def blocks_to_decide(estimate: RatioEstimate, margin: float, confidence: float) -> int | None:
    """Number of blocks, more than there are, after which an interval of this confidence would exclude 1 or lie within
    the margin, if ratio and spread stay as they are. None: more than `MOST`."""
    centre = abs(math.log(estimate.ratio))
    room = max(centre, math.log1p(margin) - centre)
    if room <= 0:
        return None
    count = estimate.blocks + 1
    while _half_width(count, estimate.spread, confidence) >= room:
        count = count + 1 if count < 50 else math.ceil(count * 1.05)
        if count > MOST:
            return None
    return count


def _estimate(centre: float, blocks: int, spread: float, confidence: float) -> RatioEstimate:
    half = _half_width(blocks, spread, confidence)
    return RatioEstimate(
        math.exp(centre), math.exp(centre - half), math.exp(centre + half), blocks, confidence, spread
    )


def _half_width(blocks: int, spread: float, confidence: float) -> float:
    from scipy.special import stdtrit  # slow to load

    quantile = float(stdtrit(blocks - 1, (1 + confidence) / 2))
    return quantile * spread / math.sqrt(blocks)
