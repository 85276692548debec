"""Comparison of two samples, run interleaved in random order.

The estimate is the Hodges–Lehmann shift: the median of pairwise differences b - a. On the
logarithms it is a ratio, which is what a reader asks for ("5% slower"). Its interval is the
distribution-free one that inverts the Mann–Whitney test (Hollander & Wolfe §4.3), so a far-out run
moves neither. Long runs are cut into blocks of at least `BLOCK` rounds, and only runs of one block
are compared with each other (van Elteren's stratification): a machine that slows down over an hour
then widens nothing. Up to two blocks' length there is one block, and interval, p-value and effect
size agree.

The 95% interval is for the estimate. The verdict is drawn from the 99% interval: *different* if it
lies wholly beyond a margin, *equivalent* if it lies wholly within the margin, else *undecided*.
Without a margin any difference matters, and nothing is equivalent. A 95% interval would call two
equal queries different once in twenty; to stay at or below that in practice, with ties, drift and a
rule that stops on the interval's width, the level has to be lower. With twelve runs each and a
relative standard deviation of 2% a slowdown of 5% is still found more than nine times in ten
(`benchmarks/aa.py` measures both).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tare.protocol.comparison.blocks import MOST
from tare.protocol.statistics import Interval

ESTIMATE_CONFIDENCE = 0.95
VERDICT_CONFIDENCE = 0.99
BLOCK = 12  # rounds
EXACT_UP_TO = 40  # runs of each, beyond which the normal approximation of U is as good
_NORMAL = statistics.NormalDist()

Verdict = Literal["different", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True)
class Shift:
    """How far B lies from A: as a difference (0 = equal) or as a ratio (1 = equal)."""

    estimate: float
    ci95: Interval | None
    ci99: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A in one measure. If the ratio is above 1 and the difference positive, B is greater."""

    runs_a: int
    runs_b: int
    median_a: float
    median_b: float
    difference: Shift
    ratio: Shift | None
    ratio_reason: str | None  # why there is none: a sample that is not positive
    p: float  # Mann–Whitney U over all runs, two-sided
    p_of_claim: float  # p; with a margin that of the claim which the estimate supports, beyond or within
    a12: float  # probability that a run of B is greater than one of A (Vargha & Delaney)
    cliffs_delta: float  # 2 a12 - 1
    verdict: Verdict
    greater: Literal["A", "B"] | None  # None unless different
    runs_needed: int | None  # of each, to decide, if ratio and spread stay; None: decided, or out of reach


def compare(
    a: Sequence[float], b: Sequence[float], *, interleaved: bool = True, margin: float = 0.0
) -> Comparison:
    """Compare two samples, each in run order. Raises ValueError if one is empty.

    `interleaved`: the runs took turns. If they did not, no run of A was made at the time of one of B: all runs are one
    block, however many there are. `margin`: change of the ratio, either way, that does not matter; 0.05 for 5%."""
    if not a or not b:
        raise ValueError("a comparison needs a sample on each side")
    from scipy.stats import mannwhitneyu  # takes a second to load

    difference = shift(a, b, interleaved=interleaved)
    on_logs = _shift_of_logs(a, b, interleaved=interleaved)
    deciding = on_logs or difference
    limit = math.log1p(margin)
    verdict: Verdict = "undecided"
    greater: Literal["A", "B"] | None = None
    needed: int | None = None
    if on_logs or not margin:  # a margin is of the ratio
        verdict, greater = _verdict(deciding.ci99, limit)
        needed = _runs_needed(deciding, limit, min(len(a), len(b))) if verdict == "undecided" else None
    p = float(mannwhitneyu(a, b, alternative="two-sided").pvalue)
    a12 = _a12(a, b)
    return Comparison(
        runs_a=len(a),
        runs_b=len(b),
        median_a=statistics.median(a),
        median_b=statistics.median(b),
        difference=difference,
        ratio=_exp_of(on_logs) if on_logs else None,
        ratio_reason=None if on_logs else "a ratio needs samples above zero",
        p=p,
        p_of_claim=_p_of_claim(a, b, margin, abs(deciding.estimate) < limit) if margin and on_logs else p,
        a12=a12,
        cliffs_delta=2 * a12 - 1,
        verdict=verdict,
        greater=greater,
        runs_needed=needed,
    )


def _verdict(interval: Interval | None, limit: float) -> tuple[Verdict, Literal["A", "B"] | None]:
    """Return the verdict and the greater side. `interval`: of B - A; `limit`: the margin, in its unit."""
    if interval is None:
        return "undecided", None
    if interval.low > limit:
        return "different", "B"
    if interval.high < -limit:
        return "different", "A"
    return ("equivalent" if max(interval.high, -interval.low) < limit else "undecided"), None


def _runs_needed(deciding: Shift, limit: float, runs: int) -> int | None:
    """Runs of each after which the 99% interval would lie beyond the limit or within it: its width falls with the
    square root of their number."""
    room = abs(abs(deciding.estimate) - limit)
    interval = deciding.ci99
    if interval is None or room == 0:
        return None
    half = max(interval.high - deciding.estimate, deciding.estimate - interval.low)
    needed = max(runs + 1, math.ceil(min(runs * (half / room) * (half / room), MOST + 1)))
    return needed if needed <= MOST else None


def _p_of_claim(a: Sequence[float], b: Sequence[float], margin: float, is_within: bool) -> float:
    """Mann–Whitney's p of the claim that B / A lies within the margin, or else beyond it."""
    from scipy.stats import mannwhitneyu

    upper, lower = [x * (1 + margin) for x in a], [x / (1 + margin) for x in a]

    def p(edge: Sequence[float], alternative: Literal["less", "greater"]) -> float:
        return float(mannwhitneyu(b, edge, alternative=alternative).pvalue)

    if is_within:
        return max(p(upper, "less"), p(lower, "greater"))
    return min(1.0, 2 * min(p(upper, "greater"), p(lower, "less")))


def shift(a: Sequence[float], b: Sequence[float], *, interleaved: bool = True) -> Shift:
    """Return the Hodges–Lehmann shift from A to B, in the samples' unit, with its intervals."""
    import numpy as np  # slow to load, and commands that compare nothing load this file

    blocks = max(1, min(len(a), len(b)) // BLOCK) if interleaved else 1
    pairs = list(zip(np.array_split(np.asarray(a, dtype=float), blocks),
                     np.array_split(np.asarray(b, dtype=float), blocks), strict=True))  # fmt: skip
    gaps: list[float] = np.sort(
        np.concatenate([np.subtract.outer(right, left).ravel() for left, right in pairs])
    ).tolist()
    sizes = tuple((min(len(x), len(y)), max(len(x), len(y))) for x, y in pairs)
    return Shift(
        statistics.median(gaps),
        _interval(gaps, sizes, ESTIMATE_CONFIDENCE),
        _interval(gaps, sizes, VERDICT_CONFIDENCE),
    )


def ratio_of(a: Sequence[float], b: Sequence[float], *, interleaved: bool = True) -> Shift | None:
    """Return the shift as a ratio, B over A; None where a sample is not positive."""
    on_logs = _shift_of_logs(a, b, interleaved=interleaved)
    return _exp_of(on_logs) if on_logs else None


def _shift_of_logs(a: Sequence[float], b: Sequence[float], *, interleaved: bool) -> Shift | None:
    if min(*a, *b) <= 0:
        return None
    return shift([math.log(x) for x in a], [math.log(x) for x in b], interleaved=interleaved)


def _exp_of(on_logs: Shift) -> Shift:
    return Shift(math.exp(on_logs.estimate), _exp(on_logs.ci95), _exp(on_logs.ci99))


def _exp(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(math.exp(interval.low), math.exp(interval.high), interval.coverage)


Sizes = tuple[tuple[int, int], ...]
"""Sizes of each block: runs of the side with fewer, runs of the other."""


def _interval(gaps: Sequence[float], sizes: Sizes, confidence: float) -> Interval | None:
    found = _rank(sizes, confidence)
    if found is None:
        return None
    rank, coverage = found
    return Interval(gaps[rank - 1], gaps[-rank], coverage)


@lru_cache(maxsize=4096)
def _rank(sizes: Sizes, confidence: float) -> tuple[int, float] | None:
    """The r for which [r-th smallest, r-th largest] difference holds the shift with at least
    `confidence`, and its coverage 1 - 2 P(U < r), U summed over blocks. None where there is none."""
    alpha = 1 - confidence
    if sum(m for _, m in sizes) > EXACT_UP_TO:
        mean = sum(n * m for n, m in sizes) / 2
        sd = math.sqrt(sum(n * m * (n + m + 1) for n, m in sizes) / 12)
        rank = math.floor(mean + _NORMAL.inv_cdf(alpha / 2) * sd)
        return (rank, 1 - 2 * _NORMAL.cdf((rank - 0.5 - mean) / sd)) if rank >= 1 else None
    counts, total = [1], 1
    for n, m in sizes:
        counts = _convolved(counts, _u_counts(n, m))
        total *= math.comb(n + m, n)
    below = rank = 0
    while 2 * (below + counts[rank]) <= alpha * total:
        below += counts[rank]
        rank += 1
    return (rank, 1 - 2 * below / total) if rank else None


def _convolved(one: Sequence[int], other: Sequence[int]) -> list[int]:
    result = [0] * (len(one) + len(other) - 1)
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            result[i + j] += x * y
    return result


@lru_cache(maxsize=256)
def _u_counts(n: int, m: int) -> tuple[int, ...]:
    """In how many of the orderings of n + m values U is 0, 1, … n m: the Gaussian binomial coefficient."""
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # times (1 - q^(m+i))
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):  # over (1 - q^i)
            counts[u] += counts[u - i]
    return tuple(counts)


def _a12(a: Sequence[float], b: Sequence[float]) -> float:
    import numpy as np  # as in `shift`

    left, right = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    greater = np.greater.outer(right, left).mean()
    equal = np.equal.outer(right, left).mean()
    return float(greater + equal / 2)
