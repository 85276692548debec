"""The paper's queries on one scale of time: its four systems of 1983, and today's."""

from __future__ import annotations

from typing import Any

from tare.report.charts.axes import down, time_axis
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import GREY, spec
from tare.report.wisconsin.charts.systems import TOOLTIP, colour, shape
from tare.report.wisconsin.headline import beside_1983
from tare.report.wisconsin.measured import Measurements
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import GIVEN_UP, SYSTEMS, TABLES

TITLE = "1983 and today"
_ROW = 17  # pixels


def chart(measured: Measurements) -> Chart | NoChart:
    today = {
        (one.query.published, one.system.label): one
        for one in measured.seen
        if one.query.published is not None and one.query.generation is Generation.Y1983
    }
    if not today:
        return NoChart(TITLE, "no query of the paper's tables was measured", "paper")
    then: list[dict[str, Any]] = []
    now: list[dict[str, Any]] = []
    places: list[str] = []
    for table in TABLES:
        for column in table.columns:
            heading = column.heading.replace("modify 1 tuple, ", "modify ")
            place = f"T{table.number} {heading}{_index(column.group)}"
            places.append(place)
            for system in SYSTEMS:
                found = table.of(system, column.key)
                then.append(
                    {
                        "place": place,
                        "system": system,
                        "title": f"Table {table.number}: {table.title}, {column.group} {column.heading}",
                        "ms": found.seconds * 1e3,
                        "printed": found.printed if found.printed == GIVEN_UP else f"{found.printed} s",
                    }
                )
            for of in measured.systems:
                seen = today.get(((table.number, column.key), of.label))
                time = seen.timed.elapsed if seen else None
                if seen is None or time is None or time.ms is None:
                    continue
                now.append(
                    {
                        "place": place,
                        "system": of.label,
                        "title": seen.query.title,
                        "ms": time.ms,
                        "low": time.low_ms,
                        "high": time.high_ms,
                        "n": time.n,
                        "access": seen.timed.access,
                    }
                )
    return Chart(
        name="years",
        title=TITLE,
        caption=(
            "Every number of the paper's eleven tables (grey strokes: its four systems, means of ten queries) and "
            "the same queries on today's systems (medians). Machines, memory and everything else differ: it is "
            "the distance that is shown, not a contest. Strokes at the right edge were given up after five hours."
        ),
        spec=spec(
            _ROW * len(places) + 20,
            layer=[
                {
                    "data": {"name": "then"},
                    "mark": {"type": "point", "shape": "stroke", "angle": 90, "color": GREY, "size": 90},
                    "encoding": {
                        "x": _x(),
                        "y": down(places, 190),
                        "tooltip": [
                            {"field": "title", "title": "query"},
                            {"field": "system", "title": "1983"},
                            {"field": "printed", "title": "elapsed"},
                        ],
                    },
                },
                {
                    "data": {"name": "now"},
                    "mark": {"type": "point", "filled": True, "size": 48, "opacity": 0.9},
                    "encoding": {
                        "x": _x(),
                        "y": down(places, 190),
                        "color": colour(measured.systems),
                        "shape": shape(measured.systems),
                        "tooltip": TOOLTIP,
                    },
                },
            ],
        ),
        data={"then": then, "now": now},
        marks=len(then) + len(now),
        alt=f"Dots on a logarithmic scale of time: {len(places)} queries, four systems of 1983 and "
        f"{len(measured.systems)} of today. {' '.join(beside_1983(measured))}",
        section="paper",
    )


def _index(group: str) -> str:
    return f", {group.removesuffix(' index')}" if group else ""


def _x() -> dict[str, Any]:
    return {
        "field": "ms",
        "type": "quantitative",
        "title": "elapsed time (log)",
        "scale": {"type": "log", "nice": True},
        "axis": time_axis(8),
    }
