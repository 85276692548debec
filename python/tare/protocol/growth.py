"""Does a query change what its next run meets? Then its runs are no repetitions, and their drift is no noise.

The size of the database and the rows of its tables are read before each run. A series of them, or of the costs of the
runs, counts as rising if Kendall's S against the run's number is beyond 2.58 standard deviations of its distribution
under no trend (one-sided 0.5%; ten runs need 38 of 45 pairs in order). Rates are Theil and Sen's for costs, and the
mean for sizes, which grow in steps.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tare.dbms.extent import Extent, TableRows
from tare.measure.records import QE
from tare.protocol.measures import CPU_OF_ALL, WALL, Measure
from tare.protocol.warmup import SMALLEST_SHIFT

BEYOND = 2.58


@dataclass(frozen=True, slots=True)
class Growth:
    """Rise of sizes from run to run, per run. 0 for what does not rise."""

    runs: int
    size_bytes: float
    table: str | None  # the one with most new rows; None where none gains any, or rows are not counted
    live_rows: float  # of that table
    dead_rows: float
    cost: Literal["cpu", "wall"] | None  # what rises with the run's number; None where neither does
    cost_ratio: float  # its rise from one run to the next, relative to its median


def growth(timed: Sequence[QE]) -> Growth | None:
    """Return what grows over the runs, in run order; None where nothing does, or it was not looked at."""
    extents = [qe.met for qe in timed if qe.met is not None]
    if len(extents) < 2 or len(extents) < len(timed):
        return None
    size = _rate([extent.size_bytes for extent in extents])
    visible = all(extent.size_bytes is not None for extent in extents)
    table, live, dead = _rows(extents, count_dead=size > 0 or not visible)
    if not (size or live or dead):
        return None
    cost, ratio = _cost(timed)
    return Growth(len(extents), size, table, live, dead, cost, ratio)


def rises(series: Sequence[float]) -> bool:
    """Whether a series in run order rises, by Kendall's S."""
    n = len(series)
    pairs = itertools.combinations(series, 2)
    score = sum((later > earlier) - (later < earlier) for earlier, later in pairs)
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return score - 1 > BEYOND * spread


def _rate(series: Sequence[float | None]) -> float:
    known = [value for value in series if value is not None]
    if len(known) < len(series) or not rises(known):
        return 0.0
    return (known[-1] - known[0]) / (len(known) - 1)


def _rows(extents: Sequence[Extent], *, count_dead: bool) -> tuple[str | None, float, float]:
    """The table that gains most rows, live or dead, and its gains. Dead rows take room: where the database does not
    grow, a count of them is out of date (PostgreSQL's after VACUUM FULL)."""
    names = set[str]().union(*(extent.rows for extent in extents))

    def rate(name: str, count: Callable[[TableRows], int]) -> float:
        return _rate([count(extent.rows.get(name, TableRows(0))) for extent in extents])

    gains = [
        (
            name,
            rate(name, lambda rows: rows.live),
            rate(name, lambda rows: rows.dead) if count_dead else 0.0,
        )
        for name in names
    ]
    name, live, dead = max(gains, key=lambda gain: (gain[1] + gain[2], gain[0]), default=("", 0.0, 0.0))
    return (name, live, dead) if live or dead else (None, 0.0, 0.0)


def _cost(timed: Sequence[QE]) -> tuple[Literal["cpu", "wall"] | None, float]:
    """CPU time, which neighbours do not move, before wall time. A rise below 1% over all runs is none."""
    named: tuple[tuple[Literal["cpu", "wall"], Measure], ...] = (("cpu", CPU_OF_ALL), ("wall", WALL))
    for name, measure in named:
        samples = [value for qe in timed if (value := measure.read(qe)) is not None]
        middle = statistics.median(samples) if samples else 0.0
        if len(samples) == len(timed) and middle > 0 and rises(samples):
            slopes = [(b - a) / (j - i) for (i, a), (j, b) in itertools.combinations(enumerate(samples), 2)]
            ratio = statistics.median(slopes) / middle
            if ratio * (len(samples) - 1) > SMALLEST_SHIFT:
                return name, ratio
    return None, 0.0
