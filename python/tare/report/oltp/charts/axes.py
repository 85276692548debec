"""Axes that the charts of a run share: one of time, so that a glance goes straight down, and logarithmic times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.report.charts.axes import time_axis
from tare.report.charts.chart import Row, Spec
from tare.report.charts.theme import GREY
from tare.report.oltp.document import OltpReport

LEFT = 62
"""Pixels left of every plot over time, whatever its labels: the charts stand exactly below each other."""

MOST_POINTS = 600
"""Most points of a line over time; longer runs are put together by several seconds."""


def bin_size(report: OltpReport, most: int = MOST_POINTS) -> int:
    """How many seconds go into one point."""
    return max(1, -(-len(report.seconds) // most))


def time_x(report: OltpReport, title: str | None) -> dict[str, Any]:
    """Seconds since the measured part began, from warm-up to the end of the drain."""
    first = min((one.number for one in report.seconds), default=0)
    last = max((one.number for one in report.seconds), default=0) + 1
    return {
        "field": "at",
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [first, last], "nice": False},
        "axis": {
            "format": ",d",
            "grid": False,
            "tickCount": {"expr": "width < 420 ? 5 : 10"},
            "tickMinStep": 1,
        },
    }


def left(**more: Any) -> dict[str, Any]:
    """Return a y axis as wide as all others, its title above."""
    return {"minExtent": LEFT, "maxExtent": LEFT, **more}


def log_times(title: str, field: str, *, low: float, high: float) -> dict[str, Any]:
    """ms on a logarithmic scale, in units of their size."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": [low, high], "nice": False, "clamp": True},
        "axis": {**time_axis(7), **left()},
    }


# What stands behind the lines ---------------------------------------------------------
def marks_of(report: OltpReport) -> dict[str, Sequence[Row]]:
    """Data of `behind`: where phases begin, where warm-up and drain are, where the run stood still."""
    first = min((one.number for one in report.seconds), default=0)
    last = max((one.number for one in report.seconds), default=0) + 1
    end = sum(one.duration_s for one in report.asked.phases)
    phases: list[dict[str, Any]] = []
    at = 0.0
    for one in report.asked.phases:
        phases.append({"at": at, "name": "" if one.rate is None else f"{one.rate:g}/s"})
        at += one.duration_s
    outside = []
    if first < 0:
        outside.append({"at": first, "to": 0, "what": "warm-up"})
    if last > end + 0.5:
        outside.append({"at": end, "to": last, "what": "drain"})
    still = [{"at": one.start_s, "to": one.start_s + one.length_s} for one in report.freezes[:100]]
    return {"phases": phases, "outside": outside, "stalls": still}


def behind(report: OltpReport, x: dict[str, Any], *, names: bool) -> list[Spec]:
    """`names`: phases and bands are named, as in the topmost chart."""
    data = marks_of(report)
    to = {"x": x, "x2": {"field": "to"}}
    layers: list[Spec] = []
    if data["outside"]:
        layers.append(
            {
                "data": {"name": "outside"},
                "mark": {"type": "rect", "color": GREY, "opacity": 0.14},
                "encoding": to,
            }
        )
    if data["stalls"]:
        layers.append(
            {
                "data": {"name": "stalls"},
                "mark": {"type": "rect", "color": "#d93f3f", "opacity": 0.16},
                "encoding": to,
            }
        )
    if len(data["phases"]) > 1:
        layers.append(
            {
                "data": {"name": "phases"},
                "mark": {"type": "rule", "color": GREY, "strokeDash": [3, 3]},
                "encoding": {"x": x},
            }
        )
    if names:
        text = {"type": "text", "align": "left", "baseline": "bottom", "dx": 2, "dy": -4, "fontSize": 10}
        if any(row["name"] for row in data["phases"]):
            layers.append(
                {
                    "data": {"name": "phases"},
                    "mark": text,
                    "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "name"}},
                }
            )
    return layers


def data_behind(report: OltpReport) -> dict[str, Sequence[Row]]:
    return {name: rows for name, rows in marks_of(report).items() if rows}


def marks_behind(report: OltpReport) -> int:
    data = marks_of(report)
    return sum(len(rows) for rows in data.values()) + len(data["phases"])
