"""The icicle: what calls what downwards, as wide as the share of the variance that lies in it."""

from __future__ import annotations

from typing import Any

from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import GREY, ORANGE, VIOLET, spec
from tare.report.kit.names import middle
from tare.report.numbers import significant
from tare.report.profile.charts.layout import Place, places
from tare.report.profile.document import ProfileReport
from tare.report.profile.words import share, time

TITLE = "Where the variance is"

_ROW = 21  # pixels
_LEAST = 0.0008  # of what is drawn: narrower is not to be seen
_MOST = 900  # rectangles
_MOST_LEVELS = 40
_GROWS, _SHRINKS = "longer where transactions are long", "shorter where transactions are long"


def chart(report: ProfileReport) -> Chart | NoChart:
    drawn = _drawn(report)
    if not drawn:
        return NoChart(TITLE, "there is no variance to divide", "flame")
    low, high = min(one.low for one in drawn), max(one.high for one in drawn)
    levels = max(one.node.depth for one in drawn) + 1
    rows: list[dict[str, Any]] = [
        {
            "from": one.low,
            "to": one.high,
            "depth": one.node.depth,
            "name": middle(one.node.name, 100),
            "sign": _GROWS if one.positive else _SHRINKS,
            "own": abs(one.node.own_covariance.value) if one.node.own_covariance and _owns(one) else 0.0,
            "says": _says(one),
            "variance": share(one.node.variance).text,
            "share": share(one.node.own_covariance).text,
            "mean": time(one.node.mean_ns).text,
            "calls": significant(one.node.calls),
        }
        for one in drawn
    ]
    signs = [_GROWS, *([_SHRINKS] if low < 0 else [])]
    return Chart(
        name="icicle",
        title=TITLE,
        caption=_caption(low < 0, any(one.depth >= _MOST_LEVELS for one in report.nodes)),
        spec=spec(
            _ROW * levels + 40,
            data={"name": "icicle"},
            params=[
                {"name": "low", "expr": f"isValid(at.from) ? at.from[0] : {low}"},
                {"name": "high", "expr": f"isValid(at.to) ? at.to[0] : {high}"},
            ],
            layer=[_rectangles(signs, max(row["own"] for row in rows)), _names()],
        ),
        data={"icicle": rows},
        marks=2 * len(rows),
        alt=f"Icicle of {len(rows)} call paths, each as wide as its share of the variance; the shares stand in the "
        "table of the tree.",
        section="flame",
    )


def _drawn(report: ProfileReport) -> list[Place]:
    least = _LEAST
    found = places(report.nodes, least, _MOST_LEVELS)
    while len(found) > _MOST:
        least *= 1.5
        found = places(report.nodes, least, _MOST_LEVELS)
    return found


def _owns(of: Place) -> bool:
    """Whether its own share is on this side."""
    return of.node.own_covariance is not None and (of.node.own_covariance.value > 0) == of.positive


def _says(of: Place) -> str:
    width = of.high - of.low
    return share(width if of.positive else -width).text


def _caption(negative: bool, deep: bool) -> str:
    said = (
        "A call path is as wide as the own shares of covariance in it and below it, which over all paths add up to "
        "100%; what is not covered from below is its own share, and the stronger the colour, the more that is. Click a "
        "path to see it as wide as the page, and where there is none to see all."
    )
    if negative:
        said += (
            " Left of zero: what takes less time where transactions are long, and so makes up for some of the "
            "variance; right less left is 100%."
        )
    return said + (f" Deeper than {_MOST_LEVELS} levels nothing is drawn." if deep else "")


def _x(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "share of the variance",
        "scale": {
            "domainMin": {"expr": "low"},
            "domainMax": {"expr": "high"},
            "nice": False,
            "zero": False,
        },
        "axis": {"format": ".0~%", "grid": False, "tickCount": {"expr": "width < 420 ? 4 : 9"}},
    }


def _y(field: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": None,
        "scale": {"reverse": True, "nice": False, "zero": False},
        "axis": None,
    }


def _rectangles(signs: list[str], most: float) -> dict[str, Any]:
    return {
        "params": [
            {
                "name": "at",
                "select": {"type": "point", "fields": ["from", "to"], "on": "click", "clear": "dblclick"},
            }
        ],
        "transform": [{"calculate": "datum.depth + 0.94", "as": "below"}],
        "mark": {"type": "rect", "clip": True, "stroke": GREY, "strokeWidth": 0.7, "cursor": "pointer"},
        "encoding": {
            "x": _x("from"),
            "x2": {"field": "to"},
            "y": _y("depth"),
            "y2": {"field": "below"},
            "fill": {
                "field": "sign",
                "type": "nominal",
                "title": None,
                "scale": {"domain": signs, "range": [ORANGE, VIOLET][: len(signs)]},
                "legend": {"columns": 1} if len(signs) > 1 else None,
            },
            "fillOpacity": {
                "field": "own",
                "type": "quantitative",
                "scale": {"domain": [0, most or 1.0], "range": [0.12, 0.75]},
                "legend": None,
            },
            "tooltip": [
                {"field": "name", "title": "path"},
                {"field": "says", "title": "own shares in it"},
                {"field": "share", "title": "its own share"},
                {"field": "variance", "title": "variance"},
                {"field": "mean", "title": "mean"},
                {"field": "calls", "title": "calls"},
            ],
        },
    }


def _names() -> dict[str, Any]:
    shown = "(min(datum.to, high) - max(datum.from, low)) / (high - low) * width - 6"
    return {
        "transform": [
            {"filter": "datum.to > low && datum.from < high"},
            {"calculate": "max(datum.from, low)", "as": "start"},
            {"calculate": "datum.depth + 0.47", "as": "middle"},
            {"calculate": f"({shown}) > 22 ? datum.name : ''", "as": "shown"},
        ],
        "mark": {
            "type": "text",
            "clip": True,
            "align": "left",
            "baseline": "middle",
            "dx": 3,
            "limit": {"expr": f"max(1, {shown})"},
            "interactive": False,
        },
        "encoding": {"x": _x("start"), "y": _y("middle"), "text": {"field": "shown"}},
    }
