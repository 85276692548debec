"""Errors of `tare trend` on simulated series: changes found where there is none, and steps of 5% that are found.

python -m benchmarks.trend [--trials 500]

The noise is that of `benchmarks/aa.py`: normal with 2% of standard deviation; one point in twenty disturbed, up to half
as long again; and noise that lasts from one measurement to the next, which the search does not allow for.
"""

from __future__ import annotations

import math
import random

from benchmarks.aa import FALSE_POSITIVES, SLOWDOWN, Noise, neighbours, normal, sticky
from benchmarks.common import Figure, arguments, report
from tare.protocol.changepoints import change_points

NEAR = 1  # places beside the planted one that are right, too
POINTS = 40
AFTER = (3, 6, 20)
"""Points after the step, of POINTS."""


def series(noise: Noise, after: int, seed: int) -> list[float]:
    """Logarithms of POINTS medians, the last `after` of them higher by SLOWDOWN."""
    values = noise(random.Random(f"{noise.__name__} {seed}"))
    factors = [1.0] * (POINTS - after) + [SLOWDOWN] * after
    return [math.log(factor * next(values)) for factor in factors]


def main() -> None:
    asked = arguments(__doc__ or "", trials=500)
    trials = 10 if asked.small else asked.trials
    figures = []
    for noise in (normal, neighbours, sticky):
        name = noise.__name__
        false = sum(bool(change_points(series(noise, 0, seed), seed)) for seed in range(trials)) / trials
        bar = math.inf if noise is sticky else 100 * FALSE_POSITIVES
        figures.append(
            Figure(f"{name} noise: series of {POINTS} without a change that are split", 100 * false, "%", bar)
        )
        for after in AFTER:
            place = POINTS - after
            found = [change_points(series(noise, after, seed), seed) for seed in range(trials)]
            share = sum(any(abs(one - place) <= NEAR for one in places) for places in found) / trials
            text = f"{name} noise: a step of 5% found, {after} of {POINTS} measurements after it"
            figures.append(Figure(text, 100 * share, "%", math.inf))
    report(figures, asked.json)


if __name__ == "__main__":
    main()
