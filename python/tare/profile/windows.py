"""Order of the windows in a round: with all probes, and with the transactions' markers alone, taking turns.

Each pair is turned the other way than the pair before (ABBA), so that a drift of the load meets both alike; which way
the first one goes is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

PROBED, MARKERS, COUNTING, RESTING, AFTER = "probed", "markers", "counting", "resting", "after"

PROBED_S = 1.5
"""Length of a window with all probes: these make the profile, so they are the longer ones."""

MARKERS_S = 0.75

AFTER_S = 1.0
"""The last window, with the markers alone: whether transactions end as before."""

LEAST_PAIRS = 2
MOST_PAIRS = 40


@dataclass(frozen=True, slots=True)
class Turn:
    purpose: str
    seconds: float


def turns(seconds: float, draw: Random) -> list[Turn]:
    """Turns of a round that lasts so long: whole pairs, at least two, shorter ones if need be."""
    pairs = min(MOST_PAIRS, max(LEAST_PAIRS, round(seconds / (PROBED_S + MARKERS_S))))
    scale = seconds / (pairs * (PROBED_S + MARKERS_S))
    probed, markers = Turn(PROBED, PROBED_S * scale), Turn(MARKERS, MARKERS_S * scale)
    first = draw.random() < 0.5
    found: list[Turn] = []
    for number in range(pairs):
        found += (probed, markers) if first == (number % 2 == 0) else (markers, probed)
    return found
