"""Charts of a trend: each series over its measurements, with the level of each segment."""

from __future__ import annotations

import statistics
from typing import Any

from tare.report.charts.chart import Chart, NoChart, Row
from tare.report.charts.theme import BLUE, NUMBER, ORANGE, spec
from tare.report.kit.names import middle
from tare.report.trend.document import SeriesReport, TrendReport
from tare.report.words import dbms_name

MOST_CHARTS = 12


def charts(report: TrendReport) -> list[Chart | NoChart]:
    """The series with the largest changes first."""
    ranked = sorted(
        (one for one in report.series if one.is_enough),
        key=lambda one: -max((abs(change.ratio - 1) for change in one.changes), default=0.0),
    )
    drawn: list[Chart | NoChart] = [_chart(one, number) for number, one in enumerate(ranked[:MOST_CHARTS])]
    return drawn or [NoChart("Series", "no series has measurements enough", "series")]


def _chart(one: SeriesReport, number: int) -> Chart:
    is_count = one.unit == "instructions"
    factor, unit = (1e6, "million instructions") if is_count else (1.0, one.unit)
    rows: list[Row] = [
        {
            "place": place,
            "value": point.value / factor,
            "commit": (point.code or "not told")[:12],
            "begun": point.started_at[:16].replace("T", " "),
        }
        for place, point in enumerate(one.points)
    ]
    starts = [0, *(change.place for change in one.changes)]
    levels: list[Row] = [
        {
            "from": start - 0.4,
            "to": start + len(segment) - 0.6,
            "level": statistics.median(point.value for point in segment) / factor,
        }
        for start, segment in zip(starts, one.segments, strict=True)
    ]
    x: dict[str, Any] = {
        "type": "quantitative",
        "title": "measurement",
        "scale": {"domain": [-0.5, len(rows) - 0.5], "nice": False},
        "axis": {"tickMinStep": 1, "grid": False},
    }
    y: dict[str, Any] = {
        "type": "quantitative",
        "title": f"median, {unit}",
        "scale": {"zero": False},
        "axis": {"format": NUMBER},
    }
    name = f"trend-{number}"
    return Chart(
        name=name,
        title=f"{middle(one.query, 60)} on {dbms_name(one.dbms)}, {one.machine_name}",
        caption="Points: medians of measurements, in the order in which they were recorded; lines: medians of the "
        "stretches between changes.",
        spec=spec(
            200,
            layer=[
                {
                    "data": {"name": name},
                    "mark": {"type": "point", "filled": True, "size": 40, "opacity": 0.9, "color": BLUE},
                    "encoding": {
                        "x": {**x, "field": "place"},
                        "y": {**y, "field": "value"},
                        "tooltip": [{"field": field} for field in ("commit", "begun", "value")],
                    },
                },
                {
                    "data": {"name": f"{name}-levels"},
                    "mark": {"type": "rule", "strokeWidth": 3, "color": ORANGE},
                    "encoding": {
                        "x": {**x, "field": "from"},
                        "x2": {"field": "to"},
                        "y": {**y, "field": "level"},
                    },
                },
            ],
        ),
        data={name: rows, f"{name}-levels": levels},
        marks=len(rows) + len(levels),
        alt=f"{len(rows)} measurements and {len(one.changes)} changes; they stand in the table.",
        section="series",
    )
