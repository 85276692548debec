"""Ratios over blocks, gates and comparisons until decided, on simulated noise whose truth is known.

Noise is autocorrelated from execution to execution and has heavy tails (Student's t with three degrees of freedom);
a session adds a level of its own, and to each arm a smaller one of the arm's own, as memory layout does. The
interval of a ratio has to hold the truth in 93–97% at a nominal 95%. A gate may call an equal candidate slower,
or one that is slower by twice the margin not slower, in at most 5%, however often it looks. A comparison until
decided may call equals different, and a candidate at the margin different or equivalent, in at most 5%. With
`--small` the coverage itself is uncertain, and its bars lie three standard errors further out.

Beside these the simulation reports what looking costs: how often the fixed 95% interval would call equals different if
it were looked at as often, and how many blocks a difference takes by looks and by a number that was fixed beforehand;
and how often a candidate at the margin is decided where the blocks are not independent, which the looks assume.

    python -m benchmarks.comparison_simulation
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common import Figure, arguments, report
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.protocol.comparison.looks import Claim, Question, Verdict, look, look_at
from tare.protocol.comparison.session_looks import ROUNDS

NOISE = 0.02  # standard deviation of an execution's log, without its tails
MEMORY = 0.6  # correlation of neighbouring executions
SESSION, LAYOUT = 0.05, 0.01  # of a session's level, and of an arm's within it
MARGIN = 0.05
MEMORIES_OF_BLOCKS = (0.3, 0.6)  # beyond what the looks assume, which is independent blocks
MOST_LOOKS = 7

GATE = Claim(Question.SLOWER, MARGIN)
WITHIN_MARGIN = Claim(Question.DIFFERENT, MARGIN)
ANY_DIFFERENCE = Claim(Question.DIFFERENT, 0.0)


def blocks(
    draw: np.random.Generator, count: int, ratio: float, memory_of_blocks: float = 0.0
) -> list[list[float]]:
    """Figures of the baseline, the baseline again, and the candidate. `memory_of_blocks`: correlation of an arm's own
    level with that of its block before."""
    arms: list[list[float]] = [[], [], []]
    layout = [0.0 for _ in arms]
    for number in range(count):
        level = draw.normal(0, SESSION)
        fresh = LAYOUT * math.sqrt(1 - memory_of_blocks**2) if number else LAYOUT
        layout = [memory_of_blocks * before + draw.normal(0, fresh) for before in layout]
        own = [level + of_arm for of_arm in layout]
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


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Comparisons that were looked at up to `MOST_LOOKS` times."""

    shares: dict[Verdict, float]
    held: float  # share of intervals, at the look that ended the comparison, that hold the true ratio
    blocks: float  # median

    def __str__(self) -> str:
        named = [f"{verdict} {100 * share:.1f}%" for verdict, share in self.shares.items() if share]
        return f"{', '.join(named)}; interval at the end holds in {100 * self.held:.1f}%; median {self.blocks:g} blocks"


def outcomes(seed: int, trials: int, ratio: float, claim: Claim, memory_of_blocks: float = 0.0) -> Outcomes:
    draw = np.random.default_rng(seed)
    counts = dict.fromkeys(Verdict, 0)
    lengths, held = [], 0
    for _ in range(trials):
        arms = blocks(draw, look_at(MOST_LOOKS), ratio, memory_of_blocks)
        for number in range(1, MOST_LOOKS + 1):
            baseline, again, candidate = (arm[: look_at(number)] for arm in arms)
            found = look(number, baseline, again, candidate, claim)
            if found.verdict is not Verdict.UNDECIDED:
                break
        counts[found.verdict] += 1
        held += found.change is not None and found.change.low <= ratio <= found.change.high
        lengths.append(found.blocks)
    shares = {verdict: count / trials for verdict, count in counts.items()}
    return Outcomes(shares, held / trials, float(np.median(lengths)))


def looked_at_carelessly(seed: int, trials: int) -> float:
    """Share of equals that the fixed 95% interval calls different at one of as many looks."""
    draw = np.random.default_rng(seed)
    wrong = 0
    for _ in range(trials):
        baseline, _, candidate = blocks(draw, look_at(MOST_LOOKS), 1.0)
        wrong += any(
            _excludes_1(baseline[: look_at(number)], candidate[: look_at(number)])
            for number in range(1, MOST_LOOKS + 1)
        )
    return wrong / trials


def fixed_blocks(seed: int, trials: int, ratio: float, power: float = 0.95) -> int:
    """Blocks, fixed beforehand, of which the 95% interval excludes 1 in this share."""
    draw = np.random.default_rng(seed)
    runs = [blocks(draw, look_at(MOST_LOOKS), ratio) for _ in range(trials)]
    for count in range(2, look_at(MOST_LOOKS)):
        found = sum(_excludes_1(baseline[:count], candidate[:count]) for baseline, _, candidate in runs)
        if found >= power * trials:
            break
    return count


def _excludes_1(baseline: Sequence[float], candidate: Sequence[float]) -> bool:
    estimate = ratio_over_blocks(baseline, candidate)
    return estimate is not None and not estimate.low <= 1 <= estimate.high


WRONG = (
    ("gate of 5%", GATE, 1.0, (Verdict.SLOWER,)),
    ("gate of 5%", GATE, 1 + MARGIN, (Verdict.SLOWER,)),
    ("gate of 5%", GATE, 1.1, (Verdict.NOT_SLOWER,)),
    ("until decided", ANY_DIFFERENCE, 1.0, (Verdict.DIFFERENT,)),
    ("until decided within 5%", WITHIN_MARGIN, 1.0, (Verdict.DIFFERENT,)),
    ("until decided within 5%", WITHIN_MARGIN, 1 + MARGIN, (Verdict.DIFFERENT, Verdict.EQUIVALENT)),
    ("until decided within 5%", WITHIN_MARGIN, 1.1, (Verdict.EQUIVALENT,)),
)
"""Ways to compare, true ratios, and the verdicts that are wrong there."""


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
    for name, claim, ratio, wrong in WRONG:
        found = outcomes(round(ratio * 100), trials // 4, ratio, claim)
        figures.append(
            Figure(
                f"{name}, candidate {ratio - 1:+.0%}: called {' or '.join(wrong)}",
                100 * sum(found.shares[verdict] for verdict in wrong),
                "%",
                5,
                spread=str(found),
            )
        )
    for memory in MEMORIES_OF_BLOCKS:
        found = outcomes(9, trials // 4, 1 + MARGIN, WITHIN_MARGIN, memory)
        name = f"until decided within 5%, candidate +5%, levels that remember {memory:g} of the last block: decided"
        figures.append(
            Figure(name, 100 * (1 - found.shares[Verdict.UNDECIDED]), "%", math.inf, spread=str(found))
        )
    careless = 100 * looked_at_carelessly(7, trials // 4)
    name = f"fixed 95% interval, looked at {MOST_LOOKS} times, equals: called different"
    figures.append(Figure(name, careless, "%", math.inf))
    for ratio in (1.03, 1.05, 1.1):
        found = outcomes(round(ratio * 1000), trials // 8, ratio, ANY_DIFFERENCE)
        name = f"any difference, candidate {ratio - 1:+.0%}: median blocks until decided"
        figures.append(Figure(name, found.blocks, "blocks", math.inf, spread=str(found)))
        count = fixed_blocks(round(ratio * 1000), trials // 8, ratio)
        name = f"any difference, candidate {ratio - 1:+.0%}: fixed number whose 95% interval finds it in 95%"
        figures.append(Figure(name, count, "blocks", math.inf))
    report(figures, asked.json)
    return int(not all(figure.met for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
