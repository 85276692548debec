"""Ratios over blocks, on simulated noise whose truth is known.

Noise is autocorrelated from sample to sample and has heavy tails (Student's t with three degrees of freedom); a block
adds a level of its own, and to each arm a smaller one of the arm's own. The interval of a ratio has to hold the truth
in 93–97% at a nominal 95%. With `--small` the coverage itself is uncertain, and its bars lie three standard errors
further out.

    python -m benchmarks.comparison_simulation
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Figure, arguments, report
from tare.protocol.comparison.blocks import ratio_over_blocks

NOISE = 0.02  # standard deviation of a sample's log, without its tails
MEMORY = 0.6  # correlation of neighbouring samples
BLOCK, ARM = 0.05, 0.01  # standard deviation of a block's level, and of an arm's within it
SAMPLES = 5  # of each arm in a block


def blocks(draw: np.random.Generator, count: int, ratio: float) -> list[list[float]]:
    """Figures of the baseline, the baseline again, and the candidate."""
    arms: list[list[float]] = [[], [], []]
    for _ in range(count):
        level = draw.normal(0, BLOCK)
        own = [level + draw.normal(0, ARM) for _ in arms]
        own[2] += np.log(ratio)
        samples: list[list[float]] = [[], [], []]
        state = 0.0
        for _ in range(SAMPLES):
            for arm in draw.permutation(3):
                state = MEMORY * state + draw.standard_t(3) * NOISE
                samples[arm].append(own[arm] + state)
        for arm, values in zip(arms, samples, strict=True):
            arm.append(float(np.exp(np.median(values))))
    return arms


def coverage(seed: int, count: int, trials: int, ratio: float = 1.1) -> float:
    """Share of 95% intervals of `count` blocks that hold the true ratio."""
    draw = np.random.default_rng(seed)
    held = 0
    for _ in range(trials):
        baseline, _, candidate = blocks(draw, count, ratio)
        estimate = ratio_over_blocks(baseline, candidate)
        assert estimate is not None
        held += estimate.low <= ratio <= estimate.high
    return held / trials


def main() -> int:
    asked = arguments(__doc__ or "", trials=4000)
    trials = 200 if asked.small else asked.trials
    figures = []
    uncertain = 300 * (0.95 * 0.05 / trials) ** 0.5 if asked.small else 0.0
    for count in (6, 9, 14, 32):
        share = 100 * coverage(count, count, trials)
        figures.append(
            Figure(
                f"coverage at 95%, {count} blocks: distance from it",
                abs(share - 95),
                "points",
                2 + uncertain,
                spread=f"coverage {share:.1f}%",
            )
        )
    report(figures, asked.json)
    return int(not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
