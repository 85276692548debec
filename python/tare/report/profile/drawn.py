"""Figures of single transactions that a report draws: durations of each type, and the speed of each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tare.protocol.profile.measured import Ints, Measured
from tare.protocol.profile.overhead import Turn
from tare.protocol.profile.types import types_of

PER_DECADE = 16
"""Bins of equal width on a logarithmic scale."""

_POINTS = 120
"""Points of a curve of what took longer."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Durations of the valid transactions of one type."""

    name: str
    histogram: tuple[tuple[float, float, int], ...]  # from, to (ns), how many; empty bins between others too
    slower: tuple[
        tuple[float, float], ...
    ]  # ns, and the share of the transactions that took as long or longer


@dataclass(frozen=True, slots=True)
class Drawn:
    spreads: tuple[Spread, ...] = ()  # all together first, where there are several types; then the commonest
    turns: tuple[Turn, ...] = ()  # windows with all probes and with the markers alone, in order of begin


ALL = "all types"


def drawn(measured: Measured, turns: Sequence[Turn] = ()) -> Drawn:
    """`turns`: of the round that `measured` is of."""
    if not measured.transactions:
        return Drawn(turns=tuple(turns))
    types = types_of(measured)
    spreads = [
        _spread(name, measured.duration_ns[types.of == number]) for number, name in enumerate(types.names)
    ]
    if len(spreads) > 1:
        spreads.insert(0, _spread(ALL, measured.duration_ns))
    return Drawn(tuple(spreads), tuple(turns))


def _spread(name: str, durations: Ints) -> Spread:
    ordered = np.sort(np.maximum(durations, 1))
    places, counts = np.unique(np.floor(np.log10(ordered) * PER_DECADE).astype(int), return_counts=True)
    of = dict(zip(places.tolist(), counts.tolist(), strict=True))
    return Spread(
        name,
        tuple(
            (10 ** (place / PER_DECADE), 10 ** ((place + 1) / PER_DECADE), of.get(place, 0))
            for place in range(min(of), max(of) + 1)
        ),
        tuple(_slower(ordered)),
    )


def _slower(ordered: Ints) -> list[tuple[float, float]]:
    """Thinned, evenly in the logarithm of the share, so that the tail is whole to the longest."""
    n = ordered.size
    ranks = np.unique(np.geomspace(1, n, min(n, _POINTS)).round().astype(int))
    return [(float(ordered[n - rank]), rank / n) for rank in reversed(ranks.tolist())]
