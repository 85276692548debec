"""Cost over size: a line for each query on each system, on logarithmic scales, where its slope is the power."""

from __future__ import annotations

from typing import Any

from tare.report.charts.chart import Chart
from tare.report.charts.theme import choice, spec
from tare.report.wisconsin.charts.classes import WHAT
from tare.report.wisconsin.charts.systems import TOOLTIP, colour, elapsed_scale, shape
from tare.report.wisconsin.document import Slope
from tare.report.wisconsin.measured import Measurements
from tare.report.wisconsin.words import label, power
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.query import Class

_EVERY = "every query"


def chart(measured: Measurements, slopes: list[Slope], generation: Generation, kind: Class) -> Chart | None:
    """None where no query of the class was run at two sizes."""
    of_query = {(one.system, one.query): one for one in slopes if one.generation == generation}
    rows = []
    for one in measured.seen:
        slope = of_query.get((one.system.label, one.query.name))
        time = one.timed.elapsed
        if one.query.generation is generation and one.query.klass is kind and slope and time.ms is not None:
            rows.append(
                {
                    "query": label(one.query),
                    "line": f"{one.system.label} {one.query.name}",
                    "system": one.system.label,
                    "title": one.query.title,
                    "size": one.size,
                    "ms": time.ms,
                    "low": time.low_ms,
                    "high": time.high_ms,
                    "n": time.n,
                    "slope": f"{power(slope)}, {slope.name}",
                    "access": one.timed.access,
                }
            )
    if not rows:
        return None
    queries = list(dict.fromkeys(str(row["query"]) for row in rows))
    sizes = sorted({one.size for one in measured.seen if one.query.generation is generation})
    return Chart(
        name=f"size-{kind}-{generation}",
        title=f"{WHAT[kind]} over size, {generation}",
        caption="Each line is a query on one system; points are medians of elapsed time. A line twice as steep as "
        "another grows with the square of what the other grows with. Choose a query to see it alone.",
        spec=spec(
            320,
            data={"name": f"size-{kind}-{generation}"},
            params=[choice("query", "Query", [_EVERY, *queries], _EVERY)] if len(queries) > 1 else [],
            transform=[{"filter": f"query === '{_EVERY}' || datum.query === query"}]
            if len(queries) > 1
            else [],
            layer=_layers(measured, sizes),
        ),
        data={f"size-{kind}-{generation}": rows},
        marks=2 * len(rows),
        alt=f"Lines of elapsed time against the relations' size for {len(queries)} queries; their slopes stand in "
        "the table.",
        section="sizes",
    )


def _layers(measured: Measurements, sizes: list[int]) -> list[dict[str, Any]]:
    x = {
        "field": "size",
        "type": "quantitative",
        "title": "tuples of the large relations (log)",
        "scale": {"type": "log", "nice": False, "padding": 16},
        "axis": {"format": "~s", "values": sizes, "grid": False},
    }
    y = {"field": "ms", **elapsed_scale()}
    return [
        {
            "mark": {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
            "encoding": {"x": x, "y": y, "color": colour(measured.systems), "detail": {"field": "line"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 0.95},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour(measured.systems),
                "shape": shape(measured.systems),
                "tooltip": [*TOOLTIP, {"field": "slope", "title": "slope"}],
            },
        },
    ]
