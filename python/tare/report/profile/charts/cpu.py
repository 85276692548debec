"""Time on the CPU and off it, for each type of transaction."""

from __future__ import annotations

from tare.report.charts.axes import down
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import GREEN, GREY, spec
from tare.report.kit.names import middle
from tare.report.profile.document import ProfileReport

TITLE = "On the CPU and off it"

_MOST = 12  # types
_ON, _OFF = "on the CPU", "off the CPU"


def chart(report: ProfileReport) -> Chart | NoChart | None:
    """None without transactions."""
    if not report.types:
        return None
    rows = []
    for place, one in enumerate(report.types[:_MOST], 1):
        if one.on_cpu_ns is not None and one.off_cpu_ns is not None:
            name = middle(one.name, 40) if len(report.types) == 1 else f"{place} {middle(one.name, 38)}"
            for what, ns in ((_ON, one.on_cpu_ns), (_OFF, one.off_cpu_ns)):
                rows.append({"place": name, "what": what, "ms": ns / 1e6})
    if not rows:
        return NoChart(TITLE, "the backend does not read the threads' CPU time", "types")
    places = list(dict.fromkeys(str(row["place"]) for row in rows))
    return Chart(
        name="cpu",
        title=TITLE,
        caption="Means of a type's transactions. Off the CPU a transaction waits, or is ready and waits for a CPU.",
        spec=spec(
            22 * len(places) + 40,
            data={"name": "cpu"},
            mark={"type": "bar", "opacity": 0.8},
            encoding={
                "y": down(places, 150),
                "x": {"field": "ms", "type": "quantitative", "title": "mean, ms", "stack": "zero",
                      "axis": {"tickCount": 5}},
                "color": {
                    "field": "what",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [_ON, _OFF], "range": [GREEN, GREY]},
                    "legend": {"columns": 2},
                },
                "order": {"field": "what", "sort": "descending"},
                "tooltip": [
                    {"field": "place", "title": "type"},
                    {"field": "what", "title": "where"},
                    {"field": "ms", "title": "mean, ms", "format": ",.4~g"},
                ],
            },
        ),
        data={"cpu": rows},
        marks=len(rows),
        alt="Stacked bars of mean time on and off the CPU by type; the times stand in the table of types.",
        section="types",
    )  # fmt: skip
