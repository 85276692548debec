"""How long transactions took, by type: a histogram, and the share that took longer, to the longest."""

from __future__ import annotations

from typing import Any

from tare.report.charts.axes import around, time_axis
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, PALETTE, choice, spec
from tare.report.kit.names import middle
from tare.report.profile.document import ProfileReport, Spread

TITLE = "How long transactions took"
SLOWER = "How many took longer"

_MOST = 8  # types
_MS = 1e6


def histogram(report: ProfileReport) -> Chart | NoChart:
    shown = _named(report)
    rows: list[dict[str, Any]] = [
        {"type": name, "from": low / _MS, "to": high / _MS, "count": count, "share": count / _all(one)}
        for name, one in shown
        for low, high, count in one.histogram
    ]
    if not rows:
        return NoChart(TITLE, "no duration of a single transaction was handed over", "types")
    names = [name for name, _ in shown]
    several = len(names) > 1
    return Chart(
        name="durations",
        title=TITLE,
        caption="Durations of the valid transactions, in bins of equal width on the logarithmic scale."
        + (" Choose a type to see it alone." if several else ""),
        spec=spec(
            210,
            data={"name": "durations"},
            params=[choice("type", "Type", names, names[0])] if several else [],
            transform=[{"filter": "datum.type === type"}] if several else [],
            mark={"type": "rect", "opacity": 0.6, "color": BLUE, "strokeWidth": 0},
            encoding={
                "x": _x("from", [row["from"] for row in rows] + [row["to"] for row in rows], grid=False),
                "x2": {"field": "to"},
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of the transactions",
                    "axis": {"format": ".0~%", "tickCount": 5},
                },
                "y2": {"datum": 0},
                "tooltip": [
                    {"field": "from", "title": "from, ms", "format": ",.3~g"},
                    {"field": "to", "title": "to, ms", "format": ",.3~g"},
                    {"field": "count", "title": "transactions", "format": ","},
                    {"field": "share", "title": "share", "format": ".2~%"},
                ],
            },
        ),
        data={"durations": rows},
        marks=max(sum(row["type"] == name for row in rows) for name in names),
        alt="Histogram of transactions' durations on a logarithmic scale; the figures stand in the table of types.",
        section="types",
    )


def slower(report: ProfileReport) -> Chart | NoChart:
    shown = _named(report)
    rows: list[dict[str, Any]] = [
        {"type": name, "ms": ns / _MS, "share": share} for name, one in shown for ns, share in one.slower
    ]
    if not rows:
        return NoChart(SLOWER, "no duration of a single transaction was handed over", "types")
    names = [name for name, _ in shown]
    x = _x("ms", [row["ms"] for row in rows], grid=True)
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share that took as long (log)",
        "scale": {"type": "log", "domain": [min(row["share"] for row in rows) * 0.9, 1], "nice": False},
        "axis": {
            "values": [10.0**-power for power in range(10)],
            "labelExpr": "datum.value >= 0.01 ? format(datum.value, '.0%') : '1 in ' + format(1 / datum.value, ',.0f')",
        },
    }
    colour = {
        "field": "type",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": list(PALETTE[: len(names)])},
        "legend": {"columns": {"expr": "width < 420 ? 1 : 2"}, "symbolType": "stroke"}
        if len(names) > 1
        else None,
    }
    return Chart(
        name="slower",
        title=SLOWER,
        caption="The share of a type's transactions that took a time or longer; where a curve crosses “1%” is its 99th "
        "percentile, and its end is the longest.",
        spec=spec(
            250,
            data={"name": "slower"},
            layer=[
                {
                    "mark": {"type": "line", "strokeWidth": 1.8, "interpolate": "step-before"},
                    "encoding": {"x": x, "y": y, "color": colour},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": colour,
                        "tooltip": [
                            {"field": "type", "title": "type"},
                            {"field": "ms", "title": "ms", "format": ",.4~g"},
                            {"field": "share", "title": "took as long", "format": ".3~%"},
                        ],
                    },
                },
            ],
        ),
        data={"slower": rows},
        marks=len(rows) + len(names),
        alt="Curves of the share of transactions that took longer than a time, both on logarithmic scales.",
        section="types",
    )


def _named(report: ProfileReport) -> list[tuple[str, Spread]]:
    """All types together and the commonest; names told apart although they are cut."""
    found: dict[str, Spread] = {}
    for one in report.spreads[:_MOST]:
        name, place = middle(one.name, 48), 2
        while name in found:
            name, place = f"{middle(one.name, 44)} ({place})", place + 1
        found[name] = one
    return list(found.items())


def _all(of: Spread) -> int:
    return sum(count for _, _, count in of.histogram)


def _x(field: str, values: list[float], *, grid: bool) -> dict[str, Any]:
    low, high = around(values, 1.0)
    return {
        "field": field,
        "type": "quantitative",
        "title": "duration (log)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {**time_axis(8), "grid": grid},
    }
