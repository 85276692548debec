"""A run over another, figure by figure: the shape of VATS/TProfiler's Table 3, "Orig./Modif.", with intervals.

A ratio above 1 says that A's figure is the larger. Its interval is that of two independent estimates on
logarithmic scales (MOVER: each side's own bound, so that a skewed interval stays skewed).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tare.protocol.oltp.precision import Estimate, Figures, Precision, precision
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import OfType

FIGURES: Mapping[str, Callable[[Figures], Estimate | None]] = {
    "mean": lambda of: of.mean,
    "variance": lambda of: of.variance,
    "sd": lambda of: of.sd,
    "p99": lambda of: of.quantile(0.99),
}
"""Figures that are compared."""

TIMES = ("response", "service")


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of a type in both runs."""

    type: str
    times: str  # of TIMES
    figure: str  # of FIGURES
    a: Estimate | None
    b: Estimate | None
    ratio: Estimate | None  # A over B; None: no interval can be given
    n: tuple[int, int]  # transactions
    why: str | None  # why there is no ratio

    @property
    def established(self) -> bool:
        """The interval leaves out 1."""
        if self.ratio is None or self.ratio.low is None or self.ratio.high is None:
            return False
        return not self.ratio.low <= 1 <= self.ratio.high


def compare(a: OltpRun, b: OltpRun) -> list[Compared]:
    """All types together first, then each that both runs have."""
    of_b = {one.name: one for one in b.outcome.types}
    pairs = [(a.outcome.all, b.outcome.all)]
    pairs += [(one, of_b[one.name]) for one in a.outcome.types if one.name in of_b]
    how = {times: (precision(a, times), precision(b, times)) for times in TIMES}
    return [
        one
        for mine, other in pairs
        if mine.counts.finished or other.counts.finished
        for times in TIMES
        for one in _type(mine, other, times, how[times])
    ]


def _type(a: OfType, b: OfType, times: str, how: tuple[Precision, Precision]) -> Iterator[Compared]:
    distributions = getattr(a, times), getattr(b, times)
    figures = [Figures(of, one) for of, one in zip(distributions, how, strict=True)]
    n = distributions[0].count, distributions[1].count
    for name, figure in FIGURES.items():
        first, second = (figure(one) for one in figures)
        ratio = None if first is None or second is None else ratio_of(first, second)
        why = None if ratio else _why(first, second)
        yield Compared(a.name, times, name, first, second, ratio, n, why)


def _why(a: Estimate | None, b: Estimate | None) -> str:
    lacking = [run for run, one in zip("AB", (a, b), strict=True) if one is None or one.low is None]
    return f"no interval can be given for {' and '.join(lacking)}" if lacking else "B's interval reaches 0"


def ratio_of(a: Estimate, b: Estimate) -> Estimate | None:
    """None where either has no interval, or B's reaches down to 0."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return None
    if b.low <= 0 or a.value <= 0:
        return None
    value = math.log(a.value / b.value)
    down = math.hypot(math.log(a.value / a.low), math.log(b.high / b.value)) if a.low > 0 else math.inf
    up = math.hypot(math.log(a.high / a.value), math.log(b.value / b.low))
    return Estimate(math.exp(value), math.exp(value - down), math.exp(value + up))
