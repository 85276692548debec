"""Change points of a series: places where its distribution changes, however often.

E-divisive (Matteson and James, 2014): the place that sets two segments furthest apart, in the energy distance between
all their points, is tried; a permutation test says whether a place so far apart would be found in a shuffled segment,
too; and each side of an accepted place is searched again. It is what several teams watch their servers with (Daly et
al., 2020). Nothing is assumed of the noise but that its order does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.01
"""Chance that a segment without a change is split."""

PERMUTATIONS = 999
FEWEST = 3
"""Points of a segment. A single far-out point is no change."""

FEWEST_POINTS = 12
"""Points of a series. Fewer have so few permutations that LEVEL is hardly reached: six before and six after a change
are enough, or three after twenty."""

MOST_POINTS = 200
"""Newest points of a series that are searched: time grows with the square of their number."""

Matrix = NDArray[np.float64]


def change_points(values: Sequence[float], seed: int = 0) -> list[int]:
    """Indices, ascending, of the first points of the segments after the first.

    None where there are fewer values than FEWEST_POINTS. Raises ValueError for more than MOST_POINTS."""
    if len(values) > MOST_POINTS:
        raise ValueError(f"at most {MOST_POINTS} points are searched")
    if len(values) < FEWEST_POINTS:
        return []
    distances = np.abs(np.subtract.outer(values, values))
    draw = np.random.default_rng(seed)
    found: list[int] = []
    waiting = [(0, len(values))]
    while waiting:
        start, end = waiting.pop()
        place = _split(distances[start:end, start:end], draw)
        if place is not None:
            found.append(start + place)
            waiting += [(start, start + place), (start + place, end)]
    return sorted(found)


def _split(distances: Matrix, draw: np.random.Generator) -> int | None:
    """Index of the first point after the change; None where there is none."""
    count = len(distances)
    if count < 2 * FEWEST:
        return None
    place, distance = _furthest(distances)
    as_far = 1
    for _ in range(PERMUTATIONS):
        order = draw.permutation(count)
        as_far += _furthest(distances[np.ix_(order, order)])[1] >= distance * (1 - 1e-12)
        if as_far > LEVEL * (PERMUTATIONS + 1):
            return None
    return place


def _furthest(distances: Matrix) -> tuple[int, float]:
    """The place that sets the points before it furthest apart from those after it, and how far."""
    count = len(distances)
    places = np.arange(FEWEST, count - FEWEST + 1)
    corner = np.zeros((count + 1, count + 1))
    corner[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    before = corner[places, places]
    between = corner[places, count] - before
    after = corner[count, count] - before - 2 * between
    n, m = places.astype(float), (count - places).astype(float)
    apart = 2 * between / (n * m) - before / (n * (n - 1)) - after / (m * (m - 1))
    scaled = apart * n * m / (n + m)
    best = int(np.argmax(scaled))
    return int(places[best]), float(scaled[best])
