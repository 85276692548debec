"""How systems look, alike in every chart of the benchmark: a colour and a shape each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.report.charts.axes import time_axis
from tare.report.charts.theme import PALETTE
from tare.report.wisconsin.document import System

_SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-right")


def colour(systems: Sequence[System]) -> dict[str, Any]:
    return _of(systems, [PALETTE[place % len(PALETTE)] for place in range(len(systems))])


def shape(systems: Sequence[System]) -> dict[str, Any]:
    return _of(systems, [_SHAPES[place % len(_SHAPES)] for place in range(len(systems))])


def _of(systems: Sequence[System], values: list[str]) -> dict[str, Any]:
    return {
        "field": "system",
        "type": "nominal",
        "title": None,
        "legend": {"columns": {"expr": "width < 420 ? 1 : 4"}},
        "scale": {"domain": [one.label for one in systems], "range": values},
    }


def elapsed_scale() -> dict[str, Any]:
    """Return the scale of an axis of elapsed times in ms, logarithmic, no wider than they reach."""
    return {
        "type": "quantitative",
        "title": "elapsed time (log)",
        "scale": {"type": "log", "nice": False, "padding": 12},
        "axis": time_axis(6),
    }


TOOLTIP = [
    {"field": "title", "title": "query"},
    {"field": "system", "title": "system"},
    {"field": "ms", "title": "median, ms", "format": ",.4~g"},
    {"field": "low", "title": "95% from, ms", "format": ",.4~g"},
    {"field": "high", "title": "95% to, ms", "format": ",.4~g"},
    {"field": "n", "title": "QEs"},
    {"field": "access", "title": "path"},
]
