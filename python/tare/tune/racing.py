"""A search by successive halving: candidates take turns with the baseline, round by round, and the better half goes on.

Rounds take about the same time, so each candidate of a later round has more blocks. Standings are over the blocks of
all rounds. What the search ends with is measured again in fresh blocks: the best of many noisy figures is too good.
Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013, §3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.protocol.signed_ranks import centre, interval
from tare.protocol.statistics import Interval
from tare.tune.arms import BASELINE
from tare.tune.record import WindowRecord, whole_blocks
from tare.tune.verdicts import Objective

FINALISTS = 2
"""Candidates that are measured again at the end."""

CONFIRMING = 0.3
"""Share of the budget for that."""

LEAST_BLOCKS = 2
"""Judged blocks of a round."""

AROUND_S = 8.0
"""Connections, the end of the last transactions and conditions on the data, of a run of the load."""


def halvings(candidates: int) -> int:
    """Rounds until the finalists are left, if each halves."""
    count = 0
    while candidates > FINALISTS:
        candidates = survivors(candidates)
        count += 1
    return count


def survivors(candidates: int) -> int:
    return max(FINALISTS, math.ceil(candidates / 2))


def blocks_within(seconds: float, arms: int, window_costs_s: float, warmup_s: float) -> int:
    """Judged blocks of a run that takes this long; at least `LEAST_BLOCKS`. One more block warms up."""
    block_s = arms * window_costs_s
    return max(LEAST_BLOCKS, int((seconds - warmup_s - AROUND_S) // block_s) - 1)


def least_budget_s(candidates: int, window_costs_s: float, warmup_s: float) -> float:
    """Shortest budget of a search."""
    round_s = warmup_s + AROUND_S + (LEAST_BLOCKS + 1) * (candidates + 1) * window_costs_s
    final_s = warmup_s + AROUND_S + (LEAST_BLOCKS + 1) * (FINALISTS + 2) * window_costs_s
    return max(round_s * halvings(candidates) / (1 - CONFIRMING), final_s / CONFIRMING)


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate over the baseline: the Hodges–Lehmann centre of the blocks' log ratios, which a window in which
    something else happened moves no more than another one. `interval`: 95%, of the ratio; None below six blocks."""

    ratio: float
    interval: Interval | None
    blocks: int


def standings(
    windows: Sequence[WindowRecord], candidates: Sequence[str], objective: Objective
) -> dict[str, Standing | None]:
    """Standing of each candidate, paired by block, over the rounds it took part in; None without a block in which both
    have the figure."""
    return {candidate: _standing(windows, candidate, objective) for candidate in candidates}


def _standing(windows: Sequence[WindowRecord], candidate: str, objective: Objective) -> Standing | None:
    figures = [
        [getattr(block[name], objective.figure) for name in (BASELINE, candidate)]
        for block in whole_blocks(windows, (BASELINE, candidate))
    ]
    logs = [math.log(its / base) for base, its in figures if base and its]
    if not logs:
        return None
    found = interval(logs)
    return Standing(
        math.exp(centre(logs)),
        None if found is None else Interval(math.exp(found.low), math.exp(found.high), found.coverage),
        len(logs),
    )


def ranked(found: Mapping[str, Standing | None], objective: Objective) -> list[str]:
    """Best first; candidates without a standing come last."""
    sign = -1 if objective.more_is_better else 1

    def key(name: str) -> float:
        standing = found[name]
        return math.inf if standing is None else sign * standing.ratio

    return sorted(found, key=key)
