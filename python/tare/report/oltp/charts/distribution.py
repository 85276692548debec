"""Distribution of times: a histogram, and the share that took longer, where the tail is seen to its end."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import Any

from tare.report.charts.axes import around, time_axis
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, GREEN, ORANGE, choice, spec
from tare.report.oltp.document import OltpReport
from tare.workload.oltp.distribution import MS, Distribution
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import OfType

_PER_DECADE = 16
"""Bins of equal width on a logarithmic scale, for a histogram."""

_POINTS_PER_DECADE = 24
"""Points of a curve."""

TITLE = "Distribution of times"
TAIL = "How many took longer"

_ALL = "all types"
_MOST_TYPES = 12
_LAG = "start lag"
_COLOURS = {"response": BLUE, "service": ORANGE, _LAG: GREEN}
_FLOOR = 1e-3  # ms: a lag below 1 µs stands at it


def histogram(report: OltpReport, run: OltpRun) -> Chart | NoChart:
    kinds = _kinds(report)
    rows = [
        {
            "type": name,
            "times": times,
            "from": low,
            "to": high,
            "share": count / sum(one for _, one in of_type(one, times).histogram),
            "count": count,
        }
        for name, one in _types(run)
        for times in kinds
        for low, high, count in _binned(of_type(one, times))
    ]
    if not rows:
        return NoChart(TITLE, "no transaction ended", "distribution")
    names = [name for name, _ in _types(run)]
    low, high = around([row["from"] for row in rows] + [row["to"] for row in rows], 1.0)
    x = {
        "field": "from",
        "type": "quantitative",
        "title": "time (log)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {**time_axis(8), "grid": False},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share of the transactions",
        "stack": None,
        "axis": {"format": ".0~%", "tickCount": 5},
    }
    return Chart(
        name="distribution",
        title=TITLE,
        caption=f"{_of(kinds)} of the transactions that ended as the workload has it, in bins of equal width on the "
        f"logarithmic scale ({_PER_DECADE} to a factor of ten). Choose a type to see it alone.",
        spec=spec(
            230,
            data={"name": "distribution"},
            params=[choice("type", "Type", names, names[0])] if len(names) > 1 else [],
            transform=[{"filter": "datum.type === type"}] if len(names) > 1 else [],
            mark={"type": "rect", "opacity": 0.5, "strokeWidth": 0},
            encoding={
                "x": x,
                "x2": {"field": "to"},
                "y": y,
                "y2": {"datum": 0},
                "color": _colour(kinds),
                "tooltip": [
                    {"field": "times", "title": "time"},
                    {"field": "from", "title": "from, ms", "format": ",.3~g"},
                    {"field": "to", "title": "to, ms", "format": ",.3~g"},
                    {"field": "count", "title": "transactions", "format": ","},
                    {"field": "share", "title": "share", "format": ".2~%"},
                ],
            },
        ),
        data={"distribution": rows},
        marks=max(sum(row["type"] == name for row in rows) for name in names),
        alt=f"Histogram of {_of(kinds).lower()} on a logarithmic scale; the figures stand in the table of types.",
        section="distribution",
    )


def tail(report: OltpReport, run: OltpRun) -> Chart | NoChart:
    is_open = report.held.intended_rate is not None
    kinds = [*_kinds(report), *([_LAG] if is_open else [])]
    rows: list[dict[str, Any]] = [
        {"type": name, "times": times, "ms": max(ms, _FLOOR), "share": share}
        for name, one in _types(run)
        for times in kinds
        for ms, share in _slower(of_type(one, times))
    ]
    if not rows:
        return NoChart(TAIL, "no transaction ended", "distribution")
    names = [name for name, _ in _types(run)]
    low, high = around([row["ms"] for row in rows], 1.0)
    least = min(row["share"] for row in rows)
    x = {
        "field": "ms",
        "type": "quantitative",
        "title": "time (log)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {**time_axis(8), "grid": True},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share that took longer (log)",
        "scale": {"type": "log", "domain": [least, 1], "nice": False},
        "axis": {
            "values": [10.0**-power for power in range(10)],
            "labelExpr": "datum.value >= 0.01 ? format(datum.value, '.0%') : '1 in ' + format(1 / datum.value, ',.0f')",
        },
    }
    return Chart(
        name="tail",
        title=TAIL,
        caption="The share of the transactions that took longer than a time; where a curve crosses “1%” is its 99th "
        "percentile, and its end is the longest. "
        + (
            "Start lag: from the intended to the real start. Where response leaves service, transactions waited for a "
            "free connection."
            if is_open
            else ""
        ),
        spec=spec(
            280,
            data={"name": "tail"},
            params=[choice("type", "Type", names, names[0])] if len(names) > 1 else [],
            transform=[{"filter": "datum.type === type"}] if len(names) > 1 else [],
            layer=[
                {
                    "mark": {"type": "line", "strokeWidth": 1.8, "interpolate": "step-before"},
                    "encoding": {"x": x, "y": y, "color": _colour(kinds)},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": _colour(kinds),
                        "tooltip": [
                            {"field": "times", "title": "time"},
                            {"field": "ms", "title": "ms", "format": ",.4~g"},
                            {"field": "share", "title": "took longer", "format": ".3~%"},
                        ],
                    },
                },
            ],
        ),
        data={"tail": rows},
        marks=len(kinds) + max(sum(row["type"] == name for row in rows) for name in names),
        alt="Curves of the share of transactions that took longer than a time, both on logarithmic scales.",
        section="distribution",
    )


def of_type(one: OfType, times: str) -> Any:
    return one.lag if times == _LAG else getattr(one, times)


def _kinds(report: OltpReport) -> list[str]:
    return ["response", "service"] if report.held.intended_rate is not None else ["service"]


def _of(kinds: list[str]) -> str:
    return "Response and service times" if len(kinds) > 1 else "Service times"


def _types(run: OltpRun) -> list[tuple[str, OfType]]:
    """All together, then the commonest."""
    seen = [one for one in run.outcome.types if one.service.count]
    kept = sorted(seen, key=lambda one: -one.service.count)[:_MOST_TYPES]
    return [(_ALL, run.outcome.all), *((one.name, one) for one in seen if one in kept)]


def _colour(kinds: list[str]) -> dict[str, Any]:
    return {
        "field": "times",
        "type": "nominal",
        "title": None,
        "scale": {"domain": kinds, "range": [_COLOURS[one] for one in kinds]},
        "legend": {"columns": 3, "symbolType": "square"},
    }


def _binned(of: Distribution) -> list[tuple[float, float, int]]:
    """(from, to, how many), ms; the bins without any between others too."""
    found: Counter[int] = Counter()
    for upper, count in of.histogram:
        found[math.floor(math.log10(max(upper, 1) / MS) * _PER_DECADE)] += count
    if not found:
        return []
    return [
        (10 ** (place / _PER_DECADE), 10 ** ((place + 1) / _PER_DECADE), found[place])
        for place in range(min(found), max(found) + 1)
    ]


def _slower(of: Distribution) -> list[tuple[float, float]]:
    """(ms, share of the transactions that took longer), thinned; the longest has the share of one of them."""
    if not of.count:
        return []
    below = list(accumulate(count for _, count in of.histogram))
    kept: dict[int, tuple[float, float]] = {}
    for (upper, _), height in zip(of.histogram, below, strict=True):
        ms, share = upper / MS, 1 - height / below[-1]
        if share > 0:
            # one a step in time and in share: steep and flat stretches are both smooth
            kept[_step(ms) * 100_000 + _step(share)] = (ms, share)
    last = max(kept.values())[1] if kept else 1.0
    return [*sorted(kept.values()), (of.max / MS, min(last, 1 / below[-1]))]


def _step(value: float) -> int:
    return math.floor(math.log10(max(value, 1e-9)) * _POINTS_PER_DECADE) + 500
