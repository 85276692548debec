"""Differences of the slowest hundredth: each function's share of what those transactions take longer."""

from __future__ import annotations

from tare.report.charts.axes import down
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, spec
from tare.report.profile import words
from tare.report.profile.document import ProfileReport

TITLE = "What the slowest hundredth takes longer"

_MOST = 12
_ALWAYS = 3
_LEAST = 0.005


def chart(report: ProfileReport) -> Chart | NoChart:
    rows: list[dict[str, str | float]] = []
    for place, one in enumerate(report.tail, 1):
        if (
            one.excess is not None
            and len(rows) < _MOST
            and (place <= _ALWAYS or abs(one.excess.value) >= _LEAST)
        ):
            rows.append(
                {
                    "place": f"{place} {words.middle(one.name, 40)}",
                    "excess": one.excess.value,
                    "low": one.excess.low,
                    "high": one.excess.high,
                    "mean": words.ns(one.mean_ns),
                    "tail": words.ns(one.tail_ns),
                }
            )
    if not rows:
        return NoChart(TITLE, "there are too few transactions for a 99th percentile", "tail")
    y = down([str(row["place"]) for row in rows], 170)
    x = {"type": "quantitative", "title": "share of the excess", "axis": {"format": ".0~%", "tickCount": 5}}
    tooltip = [
        {"field": "place", "title": "own time in"},
        {"field": "excess", "title": "of the excess", "format": ".1%"},
        {"field": "low", "title": "95% from", "format": ".1%"},
        {"field": "high", "title": "95% to", "format": ".1%"},
        {"field": "mean", "title": "of the others"},
        {"field": "tail", "title": "in the tail"},
    ]
    return Chart(
        name="tail",
        title=TITLE,
        caption="Own time of a function in transactions above the 99th percentile less that in the others, as a share "
        "of what they take longer altogether; over all functions it adds up to 100%. Lines: 95% intervals.",
        spec=spec(
            22 * len(rows) + 40,
            data={"name": "tail"},
            layer=[
                {
                    "mark": {"type": "bar", "opacity": 0.55, "color": BLUE},
                    "encoding": {"y": y, "x": {**x, "field": "excess"}, "tooltip": tooltip},
                },
                {
                    "mark": {"type": "rule", "strokeWidth": 1.5},
                    "encoding": {
                        "y": y,
                        "x": {**x, "field": "low"},
                        "x2": {"field": "high"},
                        "color": {"value": "currentColor"},
                        "tooltip": tooltip,
                    },
                },
            ],
        ),
        data={"tail": rows},
        marks=2 * len(rows),
        alt=f"Bars of {len(rows)} functions' shares of the tail's excess; they stand in the table below.",
        section="tail",
    )
