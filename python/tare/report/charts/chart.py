"""A chart: a Vega-Lite specification as a plain dict, its data by name, and what to see in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_MARKS = 4000
"""In one chart. Where there is more, it is aggregated first, and the caption says how."""

MOST_POINTS = 2500
"""Most points that carry words with them, for the page's size."""

Row = Mapping[str, Any]
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """`spec` names its data ("data": {"name": …}); `data` holds them, shared by name within a page."""

    name: str  # of its place in the page: letters, digits, hyphens
    title: str
    caption: str  # what to see
    spec: Spec
    data: Mapping[str, Sequence[Row]]
    marks: int  # at most, counted over its layers
    alt: str  # for who cannot see it: what is drawn, with its main figures
    section: str


@dataclass(frozen=True, slots=True)
class NoChart:
    """A chart for which the data are not there, and why."""

    title: str
    why: str
    section: str


def columns(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as columns, floats to five significant digits, repeated strings once: for a small page."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [_short(row.get(name)) for row in rows]
        if values and any(isinstance(value, str) for value in values):
            distinct = list(dict.fromkeys(values))
            places = {value: at for at, value in enumerate(distinct)}
            found[name] = {"of": distinct, "at": [places[value] for value in values]}
        else:
            found[name] = values
    return found


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    if value == 0:
        return 0
    rounded = round(value, 4 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded
