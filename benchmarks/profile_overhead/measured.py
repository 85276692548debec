"""Results of the windows of a case, and how they are reported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.common import Figure
from benchmarks.page import table
from benchmarks.profile_overhead.bed import Case
from benchmarks.profile_overhead.loads import Load
from benchmarks.profile_overhead.pairs import Change, change_over

PAPER = 0.06
"""Bar of throughput lost and of latency added: TProfiler's with 100 functions (its Fig. 5, left)."""

Pair = tuple[Load, Load]
"""A window on the untouched server, and one of a case."""

Rounds = Sequence[Sequence[Pair]]


@dataclass(frozen=True)
class Measured:
    load: str  # "unthrottled", or the rate
    case: Case
    events: float  # pairs of entry and exit a transaction, markers left out
    rounds: Rounds  # none: it cannot keep up

    @property
    def pairs(self) -> int:
        return sum(len(pairs) for pairs in self.rounds)

    @property
    def lost(self) -> Change:
        """Share of the throughput that is lost."""
        found = throughput(self.rounds)
        return Change(-found.value, -found.high, -found.low)

    @property
    def added(self) -> Change:
        """To the mean latency."""
        return change_over(
            [[probed.mean_ms / plain.mean_ms for plain, probed in pairs] for pairs in self.rounds]
        )

    def lines(self) -> list[str]:
        return [
            self.load,
            str(self.case),
            f"{self.events:.1f}",
            str(self.pairs),
            str(self.lost) if self.rounds else "cannot keep up",
            str(self.added) if self.rounds else "–",
        ]


def throughput(rounds: Rounds) -> Change:
    return change_over([[probed.rate / plain.rate for plain, probed in pairs] for pairs in rounds])


def figures(every: Sequence[Measured]) -> Iterator[Figure]:
    for one in filter(lambda one: one.rounds, every):
        for what, found in (("throughput lost", one.lost), ("latency added", one.added)):
            yield Figure(
                f"{one.load}: {one.case}: {what}",
                100 * found.value,
                "%",
                100 * PAPER if one.case.at_bar else math.inf,
                spread=f"{found} in {one.pairs} pairs, {one.events:.0f} calls a transaction",
            )


def page(every: Sequence[Measured], words: str) -> str:
    header = ("load", "watched", "calls a transaction", "pairs", "throughput lost", "latency added")
    return f"{words}\n\n{table(header, [one.lines() for one in every])}"
