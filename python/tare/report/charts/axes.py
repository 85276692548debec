"""Axes and layers that charts of several reports have: times on a logarithmic scale, names below each other, ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FIRST_DIGIT = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
_SHOWN = (
    f"indexof([1, 2, 5], {_FIRST_DIGIT}) < 0 ? '' : "
    "datum.value < 1 ? format(datum.value * 1000, ',~g') + ' µs' : "
    "datum.value < 1000 ? format(datum.value, ',~g') + ' ms' : format(datum.value / 1000, ',~g') + ' s'"
)


def time_axis(ticks: int) -> dict[str, Any]:
    """Return an axis of elapsed times in ms, logarithmic: 1, 2 and 5 of each decade, in a unit of its size."""
    return {"labelExpr": _SHOWN, "tickCount": ticks, "labelOverlap": "greedy", "labelSeparation": 6}


def around(values: Sequence[float], room: float = 1.15, least: float = 10.0) -> tuple[float, float]:
    """A logarithmic domain that holds these; at least a factor of `least`, so that little noise looks little."""
    kept = [value for value in values if value > 0] or [1.0]
    low, high = min(kept) / room, max(kept) * room
    if high / low < least:
        middle = (low * high) ** 0.5
        low, high = min(low, middle / least**0.5), max(high, middle * least**0.5)
    return low, high


def down(places: Sequence[str], label_limit: int) -> dict[str, Any]:
    """Return an axis of places below each other, in this order; `label_limit` in pixels."""
    return {
        "field": "place",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"domain": list(places)},
        "axis": {"labelLimit": label_limit, "grid": True},
    }


def ratio_layers(
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    colour: Mapping[str, Any],
    tooltip: Sequence[Mapping[str, str]],
) -> list[dict[str, Any]]:
    """Layers of ratios along `x`: a dashed line at 1, intervals from `low` to `high`, and points."""
    interval = {
        "x": {**x, "field": "low"},
        "x2": {"field": "high"},
        "y": y,
        "color": colour,
        "tooltip": tooltip,
    }
    return [
        {
            "data": {"values": [{"one": 1}]},
            "mark": {"type": "rule", "strokeDash": [4, 3], "opacity": 0.7},
            "encoding": {"x": {**x, "field": "one"}, "color": {"value": "currentColor"}},
        },
        {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": interval},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip},
        },
    ]
