"""Order of the windows in a round: with all probes, with the transactions' markers alone, and with no probe, in turns.

Each group is turned the other way than the group before (ABCCBA), so that a drift of the load meets all kinds alike;
which way the first one goes is drawn. Windows whose transactions are compared are of one length: a shorter one cuts
more of its long transactions, and a longer one meets more of a load's bursts.

The time without any probe is as long as the budget needs: where all probes take 20% of the throughput and 5% are
allowed, they are on for less than a quarter of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tare.protocol.profile.measured import BARE, COUNTING, MARKERS, PROBED
from tare.protocol.profile.paired import FEWEST_PAIRS, SIGNED_RANKS

__all__ = ["AFTER", "BARE", "COUNTING", "GLIMPSED", "MARKERS", "PROBED", "RESTING"]

RESTING, GLIMPSED, AFTER = "resting", "glimpsed", "after"

WINDOW_S = 1.0
"""Length of a window with all probes, and of one with the markers alone."""

BARE_S = 0.5
"""Least of a window without any probe."""

SHORTEST_S = 0.3
"""Length below which windows are not made shorter for more of them: a change of probes takes 0.05 s and more, and long
transactions are cut."""

CHANGES = 2.0
"""Times as long as a change of probes, which a window lasts at least: a change takes as much of the throughput."""

AFTER_S = 1.0
"""The last window, with the markers alone: whether transactions end as before."""

LEAST_PAIRS = FEWEST_PAIRS
MOST_PAIRS = 40


@dataclass(frozen=True, slots=True)
class Turn:
    purpose: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Duty:
    """Losses that windows without any probe make up for, as shares of the throughput."""

    on: float  # while all probes are on, predicted
    markers: float  # while the markers alone are
    budget: float  # averaged over a round

    @property
    def bare_s(self) -> float:
        """Seconds without any probe that go with WINDOW_S of each other kind."""
        return max(BARE_S, WINDOW_S * (self.on + self.markers) / self.budget - 2 * WINDOW_S)

    @property
    def probed_share(self) -> float:
        return WINDOW_S / (2 * WINDOW_S + self.bare_s)

    @property
    def allowed_on(self) -> float:
        """Loss to all probes, without the markers, from which on the round's average is above the budget."""
        return self.budget / self.probed_share - 2 * self.markers


def turns(
    seconds: float, draw: Random, duty: Duty | None = None, *, change_s: float = 0.0, last: bool = True
) -> list[Turn]:
    """Windows of a round that lasts so long: whole groups, at least LEAST_PAIRS; in the `last` round of all as many as
    an interval needs that says something, of shorter windows if need be. `duty`: None: there is no window without any
    probe; with one, windows last CHANGES times as long as a change of probes at least, so a round may last longer than
    asked. `change_s`: that a change of probes takes, before each window."""
    lengths = {PROBED: WINDOW_S, MARKERS: WINDOW_S} | ({} if duty is None else {BARE: duty.bare_s})
    whole = sum(lengths.values())
    wanted = SIGNED_RANKS if last else LEAST_PAIRS
    changing = len(lengths) * change_s
    shortest = min(SHORTEST_S, CHANGES * change_s or SHORTEST_S) if duty is not None else SHORTEST_S
    able = int(seconds / (changing + whole * shortest / WINDOW_S))
    groups = min(MOST_PAIRS, max(LEAST_PAIRS, min(wanted, able), round(seconds / (changing + whole))))
    scale = max(seconds - groups * changing, seconds / 2) / (groups * whole)
    if duty is not None:  # its changes of probes would take what it saves
        scale = max(scale, min(SHORTEST_S, CHANGES * change_s) / WINDOW_S)
    group = [Turn(purpose, length * scale) for purpose, length in lengths.items()]
    forward = draw.random() < 0.5
    found: list[Turn] = []
    for number in range(groups):
        found += group if forward == (number % 2 == 0) else group[::-1]
    return found
