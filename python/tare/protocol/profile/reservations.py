"""What a reader must know before the figures: first what makes a profile invalid, then what makes it unsure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.measured import Measured

MOST_INVALID = 0.01
MOST_CUT = 0.05
"""Cut by our own windows. They fail by nobody's fault, yet long transactions more often than short ones."""

WIDEST = 0.10
"""Half an interval of the first factor's share that a claim may rest on: 10 points."""

FEWEST = 200
"""Transactions; with fewer the 99th percentile is one of the last two."""

LEADERS = 5
MOST_OF_LEADERS = 0.25
"""Of Var(T), due to the LEADERS transactions farthest from the mean."""

_WORDS = {
    "lost": "records of theirs were lost",
    "changed": "their window ended before they did",
    "overlap": "intervals of theirs ran at the same time on several threads",
    "unfinished": "they began before their window or ended after the recording",
    "unnested": "their entries and exits do not nest",
}
_CUT = ("changed", "unfinished")


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
) -> tuple[str, ...]:
    """Sentences."""
    return (
        *_invalid(measured.transactions, measured.invalid),
        *_cut(measured.transactions, measured.invalid),
        *_few(measured.transactions, needed),
        *_slowed(overhead, budget),
        *_led(measured),
        *_lost(measured),
    )


def invalid_share(valid: int, invalid: Mapping[str, int]) -> float:
    """Of the transactions that the windows did not cut."""
    spoilt = sum(count for why, count in invalid.items() if why not in _CUT)
    return spoilt / (valid + spoilt) if spoilt else 0.0


def _invalid(valid: int, invalid: Mapping[str, int]) -> Iterator[str]:
    share = invalid_share(valid, invalid)
    if share > MOST_INVALID:
        reasons = ", ".join(
            f"{count:,} because {_WORDS.get(why, why)}"
            for why, count in sorted(invalid.items(), key=lambda one: -one[1])
            if why not in _CUT and count
        )
        yield (
            f"this profile is not valid: {share:.1%} of its transactions do not count ({reasons}), and above "
            f"{MOST_INVALID:.0%} those that are left may not stand for all; watch fewer functions, or load less"
        )


def _cut(valid: int, invalid: Mapping[str, int]) -> Iterator[str]:
    cut = sum(invalid.get(why, 0) for why in _CUT)
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


def _slowed(overhead: Overhead | None, budget: float | None) -> Iterator[str]:
    if overhead is None or budget is None:
        return
    for what, found in (("longer transactions", overhead.latency), ("throughput", overhead.throughput)):
        if found is not None and found.value > budget:
            sure = (
                ""
                if found.low > budget
                else f", though its interval ({found.low:.1%} … {found.high:.1%}) holds less"
            )
            yield (
                f"profiling cost {found.value:.1%} in {what}, above the budget of {budget:.1%}{sure}: the profile may "
                "not be that of the server at full speed; watch fewer functions, or use a cheaper backend"
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
