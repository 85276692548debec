"""Cost over size: the power of the size that a query's elapsed time grows with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tare.report.wisconsin.document import Slope
from tare.report.wisconsin.measured import Measurements, Seen

_RESAMPLES = 2_000
_SEED = 1983

_NAMES = (
    (-0.2, "falling"),
    (0.2, "constant"),
    (0.8, "below linear"),
    (1.2, "linear"),
    (1.7, "above linear"),
    (2.3, "quadratic"),
    (math.inf, "above quadratic"),
)


@dataclass(frozen=True, slots=True)
class Fit:
    """A line through the logarithms of the medians. `low`, `high`: 95%."""

    slope: float
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """By the interval: "linear", "linear to above linear", or "undecided" where it holds more than those."""
        low, high = (_class(self.slope if bound is None else bound) for bound in (self.low, self.high))
        if high - low > 1:
            return "undecided"
        return _NAMES[low][1] if low == high else f"{_NAMES[low][1]} to {_NAMES[high][1]}"


def _class(slope: float) -> int:
    return next(place for place, (below, _) in enumerate(_NAMES) if slope < below)


def fit(samples: Mapping[int, Sequence[float]]) -> Fit:
    """`samples`: ms, by size; two sizes or more, all above zero.

    The interval comes of drawing each size's QEs again and again (percentile bootstrap of the medians): it
    holds their scatter, not how far the medians lie from a line. None where a size has fewer than two QEs."""
    sizes = sorted(samples)
    x = np.log([float(size) for size in sizes])
    x = x - x.mean()
    slope = float(x @ np.log([np.median(samples[size]) for size in sizes]) / (x @ x))
    if min(len(samples[size]) for size in sizes) < 2:
        return Fit(slope, None, None)
    draw = np.random.default_rng(_SEED)
    medians = [
        np.median(draw.choice(np.asarray(samples[size]), (_RESAMPLES, len(samples[size]))), axis=1)
        for size in sizes
    ]
    drawn = x @ np.log(np.stack(medians)) / (x @ x)
    low, high = (float(bound) for bound in np.quantile(drawn, (0.025, 0.975)))
    return Fit(slope, low, high)


def slopes(measured: Measurements) -> Iterator[Slope]:
    """Return the slopes of every query that a system ran at two sizes or more."""
    by_query: dict[tuple[str, str, str], list[Seen]] = {}
    for one in measured.seen:
        if all(0 < value < math.inf for value in one.samples):
            key = (one.system.label, one.query.generation.value, one.query.name)
            by_query.setdefault(key, []).append(one)
    for (system, generation, query), seen in by_query.items():
        if len(seen) < 2:
            continue
        found = fit({one.size: one.samples for one in seen})
        yield Slope(
            system=system,
            generation=generation,
            query=query,
            sizes=[one.size for one in seen],
            n=sum(len(one.samples) for one in seen),
            slope=found.slope,
            low=found.low,
            high=found.high,
            name=found.name,
        )
