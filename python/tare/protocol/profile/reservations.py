"""Warnings before the figures: first those that make a profile invalid, then those that make it unsure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tare.protocol.profile.found import Doubt, Estimate, Invalidity, Overhead, Reservation
from tare.protocol.profile.measured import Measured
from tare.protocol.profile.paired import SIGNED_RANKS
from tare.protocol.profile.validity import (
    CUT,
    MOST_LEFT_OUT,
    Judged,
    Verdict,
    judged,
    left_out_share,
    verdict,
)

MOST_CUT = 0.05
"""Share of the transactions that our own windows may cut: long ones more often than short ones."""

WIDEST = 0.10
"""Half an interval of the first factor's share that a claim may rest on: 10 points."""

FEWEST = 200
"""Transactions; with fewer the 99th percentile is one of the last two."""

LEADERS = 5
MOST_OF_LEADERS = 0.25
"""Share of Var(T) due to the LEADERS transactions farthest from the mean."""

_WORDS = {
    "lost": "records of theirs were lost",
    "changed": "their window ended before they did",
    "overlap": "intervals of theirs ran at the same time on several threads",
    "unfinished": "they began before their window or ended after the recording",
    "unnested": "their entries and exits do not nest",
    "deep": "their calls nest deeper than is followed",
    "unwound": "an exception, a longjmp or the end of their thread left them, nobody knows when",
}


def enough(transactions: int, first: Estimate | None) -> int | None:
    """Transactions needed so that the first factor's interval is no wider than ±10 points, by 1/√n; None: there are."""
    needed = FEWEST
    if first is not None:
        half = (first.high - first.low) / 2
        needed = max(needed, math.ceil(transactions * (half / WIDEST) ** 2))
    return needed if needed > transactions else None


def leverage(measured: Measured) -> float:
    """Share of Var(T) due to the LEADERS transactions farthest from the mean."""
    squares = (measured.duration_ns - measured.duration_ns.mean()) ** 2
    total = float(squares.sum())
    return float(np.sort(squares)[-LEADERS:].sum()) / total if total else 0.0


def reservations(
    measured: Measured, needed: int | None, overhead: Overhead | None = None, budget: float | None = None
) -> tuple[Reservation, ...]:
    found = (
        (Invalidity.LEFT_OUT, _left_out(measured.transactions, measured.invalid)),
        *((kind, iter((says,))) for kind, says in _slowed(overhead, budget)),
        (Doubt.CUT, _cut(measured.transactions, measured.invalid)),
        (Doubt.FEW, _few(measured.transactions, needed)),
        (Doubt.LED, _led(measured)),
        (Doubt.LOST, _lost(measured)),
    )
    said = [Reservation(kind, says) for kind, sentences in found for says in sentences]
    return tuple(sorted(said, key=lambda one: not isinstance(one.kind, Invalidity)))


def _left_out(valid: int, invalid: Mapping[str, int]) -> Iterator[str]:
    share = left_out_share(valid, invalid)
    if share > MOST_LEFT_OUT:
        reasons = ", ".join(
            f"{count:,} because {_WORDS.get(why, why)}"
            for why, count in sorted(invalid.items(), key=lambda one: -one[1])
            if why not in CUT and count
        )
        yield (
            f"this profile is not valid: {share:.1%} of its transactions do not count ({reasons}), and above "
            f"{MOST_LEFT_OUT:.0%} those that are left may not stand for all; watch fewer functions, or load less"
        )


def _cut(valid: int, invalid: Mapping[str, int]) -> Iterator[str]:
    cut = sum(invalid.get(why, 0) for why in CUT)
    if cut > MOST_CUT * (valid + cut):
        yield (
            f"{cut / (valid + cut):.1%} of the transactions were cut by a change of probes or the recording's end, "
            "the longest most often: tail and variance come out too small; record longer, with longer windows"
        )


def _few(transactions: int, needed: int | None) -> Iterator[str]:
    if needed is not None:
        yield (
            f"{transactions:,} transactions are too few for a claim: for ±{WIDEST * 100:.0f} points of the first "
            f"factor's share some {needed:,} are needed; record longer"
        )


def _slowed(overhead: Overhead | None, budget: float | None) -> Iterator[tuple[Invalidity | Doubt, str]]:
    if overhead is None or budget is None or overhead.events <= 0:
        return
    of = verdict(overhead, budget)
    figures = judged(overhead, budget)
    if of is Verdict.UNSTEADY and overhead.growth is not None:
        yield (
            Invalidity.NOT_STEADY,
            f"the load is not steady: transactions took {overhead.growth:.1f} times as long at the end as at the "
            "beginning, with and without probes, so the overhead of profiling has no figure; profile under a load that "
            "the server sustains",
        )
    if of is Verdict.TOO_FEW:
        yield (
            Invalidity.NOT_MEASURABLE,
            f"too few pairs of windows to measure the overhead of profiling: {overhead.windows}, and {SIGNED_RANKS} "
            "are needed; profile for longer",
        )
    if above := [one for one in figures if one.is_above]:
        yield Invalidity.OVER_BUDGET, _cost(above, "")
    wide = [f"{_interval(one.figure)} in {one.what}" for one in figures if one.says_nothing]
    if of is Verdict.TOO_WIDE:
        yield (
            Invalidity.NOT_MEASURABLE,
            f"the overhead is not measurable under this load (interval {', '.join(wide)}), so the budget of "
            f"{budget:.1%} is not confirmed; profile for longer, or under a steadier load",
        )
    for one in figures:
        if not above and one.figure.value > one.allowed and not one.says_nothing:
            yield Doubt.SLOWED, _cost([one], f", though its interval ({_interval(one.figure)}) holds less")


def _interval(figure: Estimate) -> str:
    return f"{figure.low:.1%} … {figure.high:.1%}".replace("-", "\u2212")


def _cost(figures: Sequence[Judged], sure: str) -> str:
    what = " and ".join(
        f"{one.figure.value:.1%} in {one.what}, where {one.allowed:.1%} is allowed" for one in figures
    )
    return (
        f"profiling cost {what}{sure}: the profile may not be that of the server at full speed; watch fewer functions, "
        "or use a cheaper backend"
    )


def _led(measured: Measured) -> Iterator[str]:
    share = leverage(measured)
    if measured.transactions > 2 * LEADERS and share > MOST_OF_LEADERS:
        yield (
            f"{LEADERS} of {measured.transactions:,} transactions make {share:.0%} of the variance: it is that of few "
            "events; see the tail, and record longer"
        )


def _lost(measured: Measured) -> Iterator[str]:
    if measured.lost:
        yield (
            f"{measured.lost:,} of {measured.records + measured.lost:,} records were lost; transactions that they "
            "touch do not count"
        )
