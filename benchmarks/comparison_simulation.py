"""Ratios over blocks and gates, on simulated noise whose truth is known.

Noise is autocorrelated from execution to execution and has heavy tails (Student's t with three degrees of freedom);
a session adds a level of its own, and to each arm a smaller one of the arm's own, as memory layout does. The interval
of a ratio has to hold the truth in 93–97% at a nominal 95%. A gate may call an equal candidate slower, or one that is
slower by twice the margin not slower, in at most 5%, however often it looks. With `--small` the coverage itself is
uncertain, and its bars lie three standard errors further out.

    python -m benchmarks.comparison_simulation
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.common import Figure, arguments, report
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.protocol.comparison.gate import Verdict, look, look_at
from tare.protocol.comparison.session_gate import ROUNDS

NOISE = 0.02  # standard deviation of an execution's log, without its tails
MEMORY = 0.6  # correlation of neighbouring executions
SESSION, LAYOUT = 0.05, 0.01  # of a session's level, and of an arm's within it
MARGIN = 0.05
MOST_LOOKS = 7


def blocks(draw: np.random.Generator, count: int, ratio: float) -> list[list[float]]:
    """Figures of the baseline, the baseline again, and the candidate."""
    arms: list[list[float]] = [[], [], []]
    for _ in range(count):
        level = draw.normal(0, SESSION)
        own = [level + draw.normal(0, LAYOUT) for _ in arms]
        own[2] += np.log(ratio)
        samples: list[list[float]] = [[], [], []]
        state = 0.0
        for _ in range(ROUNDS):
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


def verdicts(seed: int, trials: int, ratio: float) -> tuple[dict[Verdict, float], float]:
    """Shares of the verdicts of gates that look up to `MOST_LOOKS` times, and the median number of blocks."""
    draw = np.random.default_rng(seed)
    counts = dict.fromkeys(Verdict, 0)
    lengths = []
    for _ in range(trials):
        arms = blocks(draw, look_at(MOST_LOOKS), ratio)
        for number in range(1, MOST_LOOKS + 1):
            baseline, again, candidate = (arm[: look_at(number)] for arm in arms)
            found = look(number, baseline, again, candidate, MARGIN)
            if found.verdict is not Verdict.UNDECIDED:
                break
        counts[found.verdict] += 1
        lengths.append(found.blocks)
    return {verdict: count / trials for verdict, count in counts.items()}, float(np.median(lengths))


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
    for ratio, wrong in ((1.0, Verdict.SLOWER), (1 + MARGIN, Verdict.SLOWER), (1.1, Verdict.NOT_SLOWER)):
        shares, length = verdicts(round(ratio * 100), trials // 4, ratio)
        figures.append(
            Figure(
                f"gate of {MARGIN:.0%}, candidate {ratio - 1:+.0%}: called {wrong}",
                100 * shares[wrong],
                "%",
                5,
                spread=", ".join(f"{verdict} {100 * share:.1f}%" for verdict, share in shares.items())
                + f"; median {length:g} blocks",
            )
        )
    report(figures, asked.json)
    return int(not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
