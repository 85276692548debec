"""How every chart looks: one palette for the colour-blind, text and lines in the page's own colour.

`currentColor` is the text colour of the page, so that a chart follows light, dark and print by itself.
Every colour of the palette keeps a contrast of 3:1 against white and against the dark page.
"""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, PINK = "#3584c8", "#d1660a", "#1a9070", "#c45a96"
VIOLET, RED, GOLD, GREY = "#8a6fd1", "#d93f3f", "#9b7d12", "#80868f"

PALETTE = (BLUE, ORANGE, GREEN, PINK, VIOLET, GOLD, RED, GREY)
"""After Okabe and Ito, brought to the middle of the lightness scale."""

SHAPES = ("cross", "triangle-up", "diamond", "square", "triangle-down", "triangle-right", "stroke", "circle")

ROLES = {"query": BLUE, "utility": GREEN, "daemon": ORANGE, "executor": GREY}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 130,
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 260,
        "orient": "bottom",
        "direction": "vertical",
        "columns": 2,
        "symbolOpacity": 1,
    },
    "header": {"labelColor": "currentColor", "titleColor": "currentColor"},
    "title": {"color": "currentColor", "anchor": "start", "fontSize": 12},
    "text": {"color": "currentColor", "fontSize": 11},
    "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
}


NUMBER = ",.6~g"
"""Format of an axis' numbers: no 2e+2."""


def spec(height: int, **more: Any) -> dict[str, Any]:
    """A specification as wide as its place in the page, with `more` of its keys. Colours and the like are
    in CONFIG, which the page adds to each."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        **more,
    }


def choice(name: str, label: str, options: list[str], value: str) -> dict[str, Any]:
    """A list to choose from, above the chart."""
    return {
        "name": name,
        "value": value,
        "bind": {"input": "select", "options": options, "name": f"{label} "},
    }
