"""A class of queries in one picture: each query's elapsed time on each system, with its interval."""

from __future__ import annotations

from typing import Any

from tare.report.charts.axes import down
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import choice, spec
from tare.report.numbers import fixed
from tare.report.wisconsin.charts.systems import TOOLTIP, colour, elapsed_scale, shape
from tare.report.wisconsin.measured import Measurements
from tare.report.wisconsin.words import label
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.query import Class

_ROW = 21  # pixels

WHAT = {
    Class.SELECTION: "Selections",
    Class.JOIN: "Joins",
    Class.PROJECTION: "Projections",
    Class.AGGREGATE: "Aggregates",
    Class.UPDATE: "Updates",
}


def chart(measured: Measurements, generation: Generation, kind: Class) -> Chart | NoChart | None:
    """None where no query of it was run."""
    of = [one for one in measured.seen if one.query.generation is generation and one.query.klass is kind]
    if not of:
        return None
    title = f"{WHAT[kind]}, {generation}"
    rows = [
        {
            "place": label(one.query),
            "size": fixed(one.size, 0),
            "system": one.system.label,
            "title": one.query.title,
            "ms": time.ms,
            "low": time.low_ms,
            "high": time.high_ms,
            "from": time.ms if time.low_ms is None or time.high_ms is None else time.low_ms,
            "to": time.ms if time.low_ms is None or time.high_ms is None else time.high_ms,
            "n": time.n,
            "access": one.timed.access,
        }
        for one in of
        for time in (one.timed.elapsed,)
        if time.ms is not None
    ]
    if not rows:
        return NoChart(title, "every one of its queries timed out", "classes")
    places = list(dict.fromkeys(label(one) for one in measured.queries if any(s.query is one for s in of)))
    sizes = [fixed(size, 0) for size in sorted({one.size for one in of})]
    several = len(sizes) > 1
    return Chart(
        name=f"{kind}-{generation}",
        title=title,
        caption="Medians of elapsed time, bars their 95% intervals."
        + (
            f" Where the large relations have {sizes[-1]} tuples; choose another size above."
            if several
            else ""
        ),
        spec=spec(
            _ROW * len(places) + 20,
            data={"name": f"{kind}-{generation}"},
            params=[choice("size", "Tuples", sizes, sizes[-1])] if several else [],
            transform=[{"filter": "datum.size === size"}] if several else [],
            layer=_layers(measured, places),
        ),
        data={f"{kind}-{generation}": rows},
        marks=2 * len(rows),
        alt=f"Dots of elapsed time for {len(places)} queries on {len(measured.systems)} systems; the times stand "
        "in the tables.",
        section="classes",
    )


def _layers(measured: Measurements, places: list[str]) -> list[dict[str, Any]]:
    x, y = elapsed_scale(), down(places, 180)
    return [
        {
            "mark": {"type": "rule", "opacity": 0.6},
            "encoding": {
                "x": {**x, "field": "from"},
                "x2": {"field": "to"},
                "y": y,
                "color": colour(measured.systems),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 48, "opacity": 0.9},
            "encoding": {
                "x": {**x, "field": "ms"},
                "y": y,
                "color": colour(measured.systems),
                "shape": shape(measured.systems),
                "tooltip": TOOLTIP,
            },
        },
    ]
