"""A/A and A/B: how often a comparison errs.

One query under two names may be called different in at most 5% of 200 comparisons; a slowdown of
5% must be found in at least 90%. Beside Tare's verdict stand what others do: Welch's t and
Mann–Whitney at 5%, and looking at p after every run until it falls below 5%.

    python benchmarks/aa.py                     simulated noise, all models
    python benchmarks/aa.py --comparisons 50    smaller

`compare_often` takes any sampler, so that a real query can be put in the simulation's place.
Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from scipy.stats import binomtest, mannwhitneyu, ttest_ind

from tare.protocol.compare import Comparison, compare
from tare.protocol.stop import MIN_RUNS, Stop

RUNS = MIN_RUNS
COMPARISONS = 200
SLOWDOWN = 1.05
FALSE_POSITIVES = 0.05
FOUND = 0.90

Sampler = Callable[[int], Iterator[tuple[float, float]]]
"""From a seed, pairs (a run of A, a run of B) for as long as they are asked for. A sampler that
measures runs the two in random order within each pair."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Shares of the comparisons that called the two different, and the runs they took."""

    tare: float
    welch: float
    mann_whitney: float
    watched_p: float  # stopped at the first p < 0.05 of Mann–Whitney, looking after every run
    median_runs: float
    hidden: float  # the 95% interval of the ratio missed the true ratio


def take(pairs: Iterator[tuple[float, float]], runs: int, until: Stop | None) -> Comparison:
    """Make a comparison of a fixed number of runs, or until the rule is met."""
    a, b = _pull(pairs, runs)
    found = compare(a, b)
    while until is not None and not until.after(found):
        more_a, more_b = _pull(pairs, 1)
        a, b = a + more_a, b + more_b
        found = compare(a, b)
    return found


def compare_often(
    sampler: Sampler, comparisons: int, true_ratio: float, runs: int = RUNS, until: Stop | None = None
) -> Verdicts:
    """Makes `comparisons` comparisons and counts the verdicts."""
    tare = welch = whitney = watched = hidden = 0
    lengths = []
    for seed in range(comparisons):
        kept: list[tuple[float, float]] = []
        found = take(_keeping(sampler(seed), kept), runs, until)
        a, b = [x for x, _ in kept], [y for _, y in kept]
        tare += found.verdict == "different"
        welch += ttest_ind(a, b, equal_var=False).pvalue < 0.05
        whitney += found.p < 0.05
        watched += any(mannwhitneyu(a[:n], b[:n]).pvalue < 0.05 for n in range(4, len(a) + 1))
        interval = found.ratio.ci95 if found.ratio else None
        hidden += interval is not None and not interval.low <= true_ratio <= interval.high
        lengths.append(len(a))
    of = float(comparisons)
    return Verdicts(
        tare / of, welch / of, whitney / of, watched / of, sorted(lengths)[len(lengths) // 2], hidden / of
    )


def _pull(pairs: Iterator[tuple[float, float]], runs: int) -> tuple[list[float], list[float]]:
    taken = list(islice(pairs, runs))
    return [a for a, _ in taken], [b for _, b in taken]


def _keeping(
    pairs: Iterator[tuple[float, float]], kept: list[tuple[float, float]]
) -> Iterator[tuple[float, float]]:
    for pair in pairs:
        kept.append(pair)
        yield pair


# Simulated noise: factors around 1, about 2% of relative standard deviation -------------------
Noise = Callable[[random.Random], Iterator[float]]


def normal(draw: random.Random) -> Iterator[float]:
    while True:
        yield 1 + draw.gauss(0, 0.02)


def skewed(draw: random.Random) -> Iterator[float]:
    while True:
        yield draw.lognormvariate(0, 0.02)


def neighbours(draw: random.Random) -> Iterator[float]:
    """Noise in which one run in twenty is disturbed and takes up to half as long again."""
    while True:
        yield 1 + draw.gauss(0, 0.02) + (draw.uniform(0, 0.5) if draw.random() < 0.05 else 0)


def drifting(draw: random.Random) -> Iterator[float]:
    """The machine slows down by 0.2% a run: random order within pairs is what saves the comparison."""
    level = 1.0
    while True:
        level *= 1.002
        yield level * (1 + draw.gauss(0, 0.015))


def sticky(draw: random.Random) -> Iterator[float]:
    """Noise that lasts: each run keeps 0.7 of the disturbance of the one before."""
    now = 0.0
    while True:
        now = 0.7 * now + draw.gauss(0, 0.014)
        yield 1 + now


def ticks(draw: random.Random) -> Iterator[float]:
    """A clock that counts in hundredths of the query's time: many ties."""
    while True:
        yield round(1 + draw.gauss(0, 0.02), 2)


MODELS: dict[str, Noise] = {
    "normal": normal,
    "skewed": skewed,
    "neighbours": neighbours,
    "drifting": drifting,
    "sticky": sticky,
    "ticks": ticks,
}


def simulated(noise: Noise, slowdown: float) -> Sampler:
    def sample(seed: int) -> Iterator[tuple[float, float]]:
        draw = random.Random(f"{noise.__name__} {slowdown} {seed}")
        level = noise(draw)
        while True:
            first, second = next(level), next(level)
            if draw.random() < 0.5:
                first, second = second, first
            yield 100 * first, 100 * slowdown * second

    return sample


def holds(share: float, slowdown: float, comparisons: int) -> bool:
    """Whether the bar is held. A small run, for CI, misses it only where chance does not explain it (1%)."""
    called = round(share * comparisons)
    if slowdown == 1:
        chance = binomtest(called, comparisons, FALSE_POSITIVES, alternative="greater").pvalue
        held = share <= FALSE_POSITIVES
    else:
        chance = binomtest(called, comparisons, FOUND, alternative="less").pvalue
        held = share >= FOUND
    return held or (comparisons < COMPARISONS and chance > 0.01)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=COMPARISONS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--until", type=Stop.parse, default=Stop.parse("ci=1%"))
    parser.add_argument("--small", action="store_true", help="10 comparisons: does it work, not what is it")
    chosen = parser.parse_args(arguments)
    if chosen.small:
        chosen.comparisons = 10
    missed = 0
    print(f"{chosen.comparisons} comparisons each; share called different (%)")
    print(
        f"{'noise':12}{'B':>7}{'stop':>9}{'Tare':>7}{'Welch':>7}{'M–W':>7}{'watch p':>9}"
        f"{'runs':>6}{'95% missed':>12}"
    )
    for name, noise in MODELS.items():
        for slowdown in (1.0, SLOWDOWN):
            for until in (None, chosen.until):
                found = compare_often(
                    simulated(noise, slowdown), chosen.comparisons, slowdown, chosen.runs, until
                )
                held = holds(found.tare, slowdown, chosen.comparisons)
                missed += not held
                print(
                    f"{name:12}{'= A' if slowdown == 1 else f'+{slowdown - 1:.0%}':>7}"
                    f"{str(until) if until else f'{chosen.runs} runs':>9}{100 * found.tare:7.1f}"
                    f"{100 * found.welch:7.1f}{100 * found.mann_whitney:7.1f}{100 * found.watched_p:9.1f}"
                    f"{found.median_runs:6.0f}{100 * found.hidden:12.1f}{'' if held else '  MISSED'}"
                )
    print(f"bars: at most {FALSE_POSITIVES:.0%} where B = A, at least {FOUND:.0%} where B is slower")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
