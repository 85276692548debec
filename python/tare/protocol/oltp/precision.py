"""How sure the figures of one run are, though transactions that are neighbours in time are alike.

A checkpoint, a stall or a queue slows many transactions at once, so n of them tell less than n independent
ones would. How much less is read off the run itself: seconds are put together to batches, and the spread of the
batches' means is held against the spread that independent transactions would give. Their ratio is the inflation
(Kish's design effect); n over it is the effective n, by which every interval here is computed.

Assumed: what lasts longer than a batch is a change of the schedule, which the phases tell; and neighbours are alike
in all figures no more than in their means. A type that is rare in a second is less alike than all together,
so that its intervals come out rather too wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tare.workload.oltp.distribution import MS, Distribution, merge
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Second

CONFIDENCE = 0.95
FEWEST_BATCHES = 10
MOST_BATCHES = 30
FEWEST_EFFECTIVE = 10.0
"""Below as many effective transactions a figure has no interval."""

_WIDEST = 20.0
"""Widest interval of a logarithm: beyond it an interval says nothing, and numbers overflow."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of one run's transactions, with the 95% interval of what it would be over many such seconds."""

    value: float
    low: float | None = None  # None, both: no interval can be given
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Batches:
    """Precision of a run, from its seconds."""

    batches: int
    seconds: int  # in each
    inflation: float  # at least 1
    freedom: int  # degrees of it


@dataclass(frozen=True, slots=True)
class TooShort:
    """No interval can be had."""

    why: str


Precision = Batches | TooShort


def precision(run: OltpRun, of: str) -> Precision:
    """`of`: "response", "service" or "lag"."""
    whole: Distribution = getattr(run.outcome.all, of)
    phases = [
        [one for one in run.seconds if one.number >= 0 and one.phase == phase]
        for phase in sorted({one.phase for one in run.seconds if one.number >= 0})
    ]
    found = sum(len(phase) for phase in phases)
    size = max(1, found // MOST_BATCHES)
    batches = [_batches(phase, of, size) for phase in phases]
    count = sum(len(phase) for phase in batches)
    freedom = count - sum(bool(phase) for phase in batches)
    if count < FEWEST_BATCHES or freedom < FEWEST_BATCHES // 2:
        return TooShort(f"{count} seconds with transactions in them; an interval takes {FEWEST_BATCHES}")
    variance = whole.variance or 0.0
    if variance == 0:
        return TooShort("all times are equal")
    between = sum(_between(phase) for phase in batches if phase) / freedom
    return Batches(count, size, max(1.0, between / variance), freedom)


def pooled(runs: Sequence[OltpRun], of: str) -> Precision:
    """Precision of the transactions of several runs at one rate, taken together. Runs that differ from each other
    widen the intervals as batches that differ do."""
    batches = []
    size = max(1, sum(second.number >= 0 for run in runs for second in run.seconds) // MOST_BATCHES)
    for run in runs:
        batches += _batches([second for second in run.seconds if second.number >= 0], of, size)
    if len(batches) < FEWEST_BATCHES:
        return TooShort(f"{len(batches)} batches of seconds; an interval takes {FEWEST_BATCHES}")
    whole = merge(getattr(run.outcome.all, of) for run in runs)
    if not whole.variance:
        return TooShort("all times are equal")
    freedom = len(batches) - 1
    return Batches(len(batches), size, max(1.0, _between(batches) / freedom / whole.variance), freedom)


def _batches(seconds: Sequence[Second], of: str, size: int) -> list[tuple[int, float]]:
    """Transactions and their mean, of `size` seconds each; those in which none ended are left out."""
    found = []
    for first in range(0, len(seconds), size):
        some = [
            (one.counts.finished, mean)
            for one in seconds[first : first + size]
            if (mean := _mean(one, of)) is not None and one.counts.finished
        ]
        count = sum(n for n, _ in some)
        if count:
            found.append((count, sum(n * mean for n, mean in some) / count))
    return found


def _mean(second: Second, of: str) -> float | None:
    """A transaction's response time is its start lag and its service time."""
    if second.response is None or second.service is None:
        return None
    if of == "lag":
        return second.response.mean - second.service.mean
    return second.response.mean if of == "response" else second.service.mean


def _between(batches: Sequence[tuple[int, float]]) -> float:
    """Sum over the batches of n · (their mean - the mean of all)²."""
    total = sum(n for n, _ in batches)
    mean = sum(n * one for n, one in batches) / total
    return sum(n * (one - mean) ** 2 for n, one in batches)


# Figures -------------------------------------------------------------------------------
class Figures:
    """Figures of a distribution, in ms and ms². None: there are too few values for the figure itself."""

    def __init__(self, of: Distribution, how: Precision) -> None:
        self._of = of
        self._how = how

    @property
    def effective(self) -> float:
        """Independent transactions that would tell as much."""
        return self._of.count / self._how.inflation if isinstance(self._how, Batches) else 0.0

    @property
    def mean(self) -> Estimate | None:
        if not self._of.count:
            return None
        return self._around(self._of.mean / MS, self._relative_error_of_mean(1.0))

    @property
    def variance(self) -> Estimate | None:
        if self._of.variance is None:
            return None
        return self._around(self._of.variance / MS**2, self._relative_error_of_variance)

    @property
    def sd(self) -> Estimate | None:
        return (
            None
            if self._of.sd is None
            else self._around(self._of.sd / MS, self._relative_error_of_variance / 2)
        )

    @property
    def cv(self) -> Estimate | None:
        """The errors of mean and standard deviation are added as if independent: rather too wide."""
        if self._of.cv is None:
            return None
        error = math.hypot(self._relative_error_of_mean(1.0), self._relative_error_of_variance / 2)
        return self._around(self._of.cv, error)

    @property
    def power_mean(self) -> Estimate | None:
        """The L_p norm freed of n: (Σ lᵢᵖ / n)^(1/p)."""
        p = self._of.norm
        found = self._of.power_mean_ms
        return None if found is None else self._around(found, self._relative_error_of_mean(p) / p)

    def quantile(self, share: float) -> Estimate | None:
        """Between two order statistics, without assuming a shape."""
        value = self._of.quantile(share)
        if value is None:
            return None
        low, high = self.quantile_bounds(share)
        return Estimate(value / MS) if low is None or high is None else Estimate(value / MS, low, high)

    def quantile_bounds(self, share: float) -> tuple[float | None, float | None]:
        """Ends of a percentile's interval. Either may be missing where too few values lie beyond it."""
        if not self._sure:
            return None, None
        half = self._multiple * math.sqrt(share * (1 - share) / self.effective)
        low = self._of.quantile(share - half) if share - half > 0 else None
        high = self._of.quantile(share + half) if share + half < 1 else None
        return None if low is None else low / MS, None if high is None else high / MS

    # Inside ------------------------------------------------------------------------------
    @property
    def _sure(self) -> bool:
        return self.effective >= FEWEST_EFFECTIVE

    @property
    def _multiple(self) -> float:
        """Multiple of a standard error: Student's, since the inflation is itself estimated."""
        from scipy.special import stdtrit

        assert isinstance(self._how, Batches)
        return float(stdtrit(self._how.freedom, (1 + CONFIDENCE) / 2))

    def _around(self, value: float, relative_error: float) -> Estimate:
        """The wider of a plain and a logarithmic scale on either side: one event may make a figure large, and a
        second such run may be without it."""
        if not self._sure or value <= 0 or not math.isfinite(relative_error):
            return Estimate(value)
        error = self._multiple * relative_error
        return Estimate(value, value * max(0.0, 1 - error), value * math.exp(min(error, _WIDEST)))

    @cached_property
    def _buckets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pairs = np.array(self._of.histogram, dtype=np.float64).reshape(-1, 2)
        return pairs[:, 0] / MS, pairs[:, 1]

    def _relative_error_of_mean(self, power: float) -> float:
        """Return the relative error of the mean of the values' `power`."""
        if not self._sure:
            return math.inf
        values, counts = self._buckets
        raised = values**power
        mean = float(np.average(raised, weights=counts))
        spread = float(np.average((raised - mean) ** 2, weights=counts))
        return math.sqrt(spread / self.effective) / mean if mean else math.inf

    @cached_property
    def _relative_error_of_variance(self) -> float:
        """From the fourth moment."""
        if not self._sure:
            return math.inf
        values, counts = self._buckets
        apart = (values - np.average(values, weights=counts)) ** 2
        variance = float(np.average(apart, weights=counts))
        if variance == 0:
            return math.inf
        fourth = float(np.average(apart**2, weights=counts))
        return math.sqrt(max(fourth / variance**2 - 1, 0.0) / self.effective)
