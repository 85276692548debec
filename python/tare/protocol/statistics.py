"""Summary of a sample: the median, its interval, and how much the runs differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95
SMALLEST_FOR_INTERVAL = 6
"""With fewer samples even [smallest, largest] holds the median with less than 95%:
its coverage is 1 - 2^(1-n), 93.75% for five."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float
    coverage: float  # what it really holds: at least what was asked

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over the QEs of one Q@C. `samples` is in run order; None = not measured there."""

    samples: tuple[float | None, ...]
    median: float | None
    interval: Interval | None
    interval_reason: str | None  # why there is no interval
    rsd: float | None  # sample standard deviation / |mean|
    reason: str | None  # why there is no median


def sample_sd(values: Sequence[float]) -> float | None:
    """Standard deviation with n - 1; None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def relative_sd(values: Sequence[float]) -> float | None:
    """Sample standard deviation over |mean|; None for fewer than two values or a mean of 0."""
    sd = sample_sd(values)
    mean = abs(math.fsum(values) / len(values)) if values else 0.0
    return sd / mean if sd is not None and mean > 0 else None


@lru_cache(maxsize=512)
def median_ranks(n: int, confidence: float) -> tuple[int, float] | None:
    """The r for which [r-th smallest, r-th largest] is the tightest such interval that holds the
    median with at least `confidence`, and its true coverage: 1 - 2 P(Binomial(n, 1/2) < r)."""
    above, of = (1 - confidence).as_integer_ratio()
    most = (above << n) // (2 * of)  # of 2^n equally likely cases
    rank, below, here = 0, 0, 1  # fewer than `rank` successes; exactly `rank`
    while below + here <= most:
        below += here
        here = here * (n - rank) // (rank + 1)
        rank += 1
    return (rank, 1 - 2 * below / (1 << n)) if rank else None


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The distribution-free interval of the median from two order statistics.

    Its coverage never falls short of `confidence`, whatever the distribution; for ten values
    it is [2nd, 9th] and holds 97.9%. None where no two order statistics reach `confidence`.
    """
    found = median_ranks(len(values), confidence)
    if found is None:
        return None
    rank, coverage = found
    ordered = sorted(values)
    return Interval(ordered[rank - 1], ordered[-rank], coverage)


def summarise(samples: Sequence[float | None], reason: str | None = None) -> Summary:
    """Sums up what was measured. `reason` says why nothing was, if nothing was."""
    known = [value for value in samples if value is not None]
    if not known:
        return Summary(tuple(samples), None, None, None, None, reason or "no run gave this measure")
    interval = median_interval(known)
    why = None
    if interval is None:
        why = (
            f"{len(known)} samples: no interval of this median holds 95% "
            f"({SMALLEST_FOR_INTERVAL} or more are needed)"
        )
    return Summary(tuple(samples), statistics.median(known), interval, why, relative_sd(known), None)
