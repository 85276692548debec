"""Ratio of two groups of runs, each run being one sample.

Runs differ from each other by more than their transactions do: by the state of the data, of the machine, of the day. A
group of runs shows by how much. A run's log figure is one sample, and Welch's t gives the interval of the difference of
the two groups' means: it needs neither as many runs in both, nor a like spread.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tare.protocol.comparison.blocks import WIDEST
from tare.protocol.distributions import student_quantile

FEWEST = 2


@dataclass(frozen=True, slots=True)
class GroupRatio:
    """Ratio of geometric means over runs, with its interval."""

    ratio: float
    low: float
    high: float
    runs: tuple[int, int]
    confidence: float
    spread: float  # standard deviation of log figures within the groups, pooled


def ratio_of_groups(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = 0.95
) -> GroupRatio | None:
    """Estimate numerator / denominator; both have one figure for each run of their group.

    None below two runs in either group, where a figure is not positive, and where the interval is wider than
    `blocks.WIDEST`."""
    groups = numerator, denominator
    if min(map(len, groups)) < FEWEST or min(map(min, groups)) <= 0:
        return None
    logs = [[math.log(figure) for figure in group] for group in groups]
    centre = statistics.fmean(logs[0]) - statistics.fmean(logs[1])
    variances = [statistics.variance(group) for group in logs]
    errors = [variance / len(group) for variance, group in zip(variances, logs, strict=True)]
    half = _half_width(errors, [len(group) for group in logs], confidence)
    if half > WIDEST:
        return None
    freedoms = [len(group) - 1 for group in logs]
    pooled = sum(v * f for v, f in zip(variances, freedoms, strict=True)) / sum(freedoms)
    return GroupRatio(
        math.exp(centre),
        math.exp(centre - half),
        math.exp(centre + half),
        (len(numerator), len(denominator)),
        confidence,
        math.sqrt(pooled),
    )


def _half_width(errors: Sequence[float], runs: Sequence[int], confidence: float) -> float:
    """Welch's. `errors`: squared standard errors of the two means."""
    whole = sum(errors)
    if whole == 0:
        return 0.0
    freedom = whole**2 / sum(error**2 / (n - 1) for error, n in zip(errors, runs, strict=True))
    return student_quantile(freedom, (1 + confidence) / 2) * math.sqrt(whole)
