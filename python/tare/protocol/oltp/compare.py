"""A run over another, figure by figure: the shape of VATS/TProfiler's Table 3, "Orig./Modif.", with intervals.

A ratio above 1 says that A's figure is the larger. Its interval is that of two independent estimates on
logarithmic scales (MOVER: each side's own bound, so that a skewed interval stays skewed).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.protocol.oltp.precision import Estimate, Figures, Precision, precision
from tare.workload.oltp.run import Asked, OltpRun
from tare.workload.oltp.told import OfType

_TOLERANCE = 0.01  # of a rate, as the driver's

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


def objections(a: OltpRun, b: OltpRun) -> list[str]:
    """Return the reasons for which two runs cannot be compared, as sentences with the values of both.

    Empty: the runs differ in nothing but what they were made to compare. Whether each of them is valid is not among
    them."""
    return [*_differing(a, b), *_held(a, b)]


_SAME: Sequence[tuple[str, Callable[[OltpRun], str]]] = (
    ("workload", lambda run: run.workload),
    ("scale", lambda run: f"{run.loaded.scale:g}"),
    ("seed of the data", lambda run: str(run.loaded.seed)),
    ("options of the data", lambda run: _pairs(run.loaded.settings)),
    ("options at work", lambda run: _pairs(run.options)),
    ("mix", lambda run: _mix(run)),
    ("arrivals", lambda run: run.asked.arrivals + (f" from {run.asked.trace}" if run.asked.trace else "")),
    ("phases", lambda run: phases(run.asked)),
    ("connections", lambda run: str(run.asked.connections)),
    ("isolation", lambda run: _level(run.isolation)),
    ("tries", lambda run: str(run.asked.tries)),
    ("think time", lambda run: f"{run.asked.think:g}"),
    ("shedding", lambda run: "none" if run.asked.shed_after_s is None else f"{run.asked.shed_after_s:g} s"),
    ("machine", lambda run: _machine(run)),
)


def _differing(a: OltpRun, b: OltpRun) -> Iterator[str]:
    for what, of in _SAME:
        first, second = of(a), of(b)
        if first != second:
            yield f"{what}: {first} in A, {second} in B"


def _held(a: OltpRun, b: OltpRun) -> Iterator[str]:
    """The same rate was asked for and not held alike."""
    if a.asked.closed or b.asked.closed or phases(a.asked) != phases(b.asked):
        return
    if a.outcome.not_judged or b.outcome.not_judged:
        return  # an objection already; their rates are not known to 1%
    first, second = a.sustained_rate, b.sustained_rate
    if abs(first - second) > _TOLERANCE * max(first, second):
        yield f"rate held: {first:.4g}/s in A, {second:.4g}/s in B"


def phases(asked: Asked) -> str:
    """Return the phases in words: "300/s for 30 s, then 400/s for 30 s"."""
    return ", then ".join(
        f"{one.duration_s:g} s" if one.rate is None else f"{one.rate:g}/s for {one.duration_s:g} s"
        for one in asked.phases
    )


def _mix(run: OltpRun) -> str:
    return ", ".join(f"{name} {share:.2%}" for name, share in run.shares.items() if share)


_LEVELS = ("read committed", "repeatable read", "serializable")


def _level(words: str) -> str:
    """Return the level's name without hyphens and capitals, in which DBMSes differ."""
    plain = words.lower().replace("-", " ")
    return next((level for level in _LEVELS if plain.startswith(level)), words)


def _pairs(of: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(of.items())) or "none"


def _machine(run: OltpRun) -> str:
    one = run.machine
    return f"{one.cpu_model}, {one.usable_cpus} CPUs, {one.memory_bytes / 2**30:.1f} GiB, Linux {one.kernel}"
