"""Component bars: what the wall time of a Q@C is the sum of, what is left over, and what of it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import ibis.expr.types as ir

from tare.lab.answers import rows, value
from tare.lab.frames import Frames
from tare.report.charts.chart import MOST_MARKS, Chart, NoChart, Spec
from tare.report.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    NUMBER,
    ORANGE,
    RED,
    VIOLET,
    choice,
    spec,
)
from tare.report.experiment.sources import RETAINED

TITLE = "What the wall time is made of"
_CLASSES = 10

PARTS = {
    "cpu": ("CPU", BLUE),
    "block_io": ("block I/O", ORANGE),
    "run_queue": ("run-queue wait", VIOLET),
    "sleep": ("sleep", GREEN),
    "steal": ("steal", RED),
    "residue": ("residue", GREY),
}
"""The leader's timeline (measure.records.Elapsed): the parts that add up to the wall time."""


def sums(qes: ir.Table, frames: Frames) -> tuple[list[dict[str, Any]], str]:
    """Mean parts of the retained QEs, ms: for each Q@C if they fit in a chart, else put together; and by what.

    A part that was not measured in a QE is in its residue, so the sum is always the wall time."""
    leader = frames.qe.filter(frames.qe.leader_cpu_ns.notnull())
    leader = leader.select(leader_of=leader.id, **{part: leader[f"leader_{part}_ns"] / 1e6 for part in PARTS})
    kept = qes.filter(qes.rule == RETAINED)
    kept = kept.inner_join(leader, kept.qe_id == leader.leader_of)
    means = {part: kept[part].fill_null(0.0).mean() for part in PARTS}
    more = {"time_ms": kept.time_ms.mean(), "qes": kept.count()}
    for by in (["query", "dbms", "cardinality"], ["query", "dbms"]):
        found = rows(kept.group_by(by).agg(**means, **more).order_by(by))
        if len(found) * (len(PARTS) + 1) <= MOST_MARKS:
            return found, "Q@C" if len(by) == 3 else "query and DBMS, over all cardinalities"
    top = value(kept.cardinality.max())
    kept = kept.mutate(cardinality=((kept.cardinality * _CLASSES // (top + 1) + 1) * top) // _CLASSES)
    means = {part: kept[part].fill_null(0.0).mean() for part in PARTS}
    more = {"time_ms": kept.time_ms.mean(), "qes": kept.count()}
    by = ["dbms", "cardinality"]
    found = rows(kept.group_by(by).agg(**means, **more).order_by(by))
    return (
        found,
        f"DBMS and each of {_CLASSES} classes of cardinality (up to the one named), over all queries",
    )


def chart(found: list[dict[str, Any]], by: str, protocol: str) -> Chart | NoChart:
    used = [part for part in PARTS if any(row[part] for row in found)]
    if not used:
        return NoChart(TITLE, f"no QE with a timeline was retained by {protocol}", "times")
    ordered = sorted(found, key=_order)
    queries = list(dict.fromkeys(row["query"] for row in ordered if "query" in row and "cardinality" in row))
    bars = [
        {**_bar(row, place), "part": PARTS[part][0], "order": order, "ms": row[part], "qes": row["qes"]}
        for place, row in enumerate(ordered)
        for order, part in enumerate(used)
        if row[part]
    ]
    times = [{**_bar(row, place), "ms": row["time_ms"]} for place, row in enumerate(ordered)]
    most = max(Counter(row.get("query", "") if queries else "" for row in found).values())
    names = [PARTS[part][0] for part in used]
    return Chart(
        name="components",
        title=TITLE,
        caption=f"The leader's timeline: means over the QEs that {protocol} retained, for each {by}. Each part is "
        "measured by itself, and the residue is what they leave of the wall time: long grey bars would say that "
        f"something was missed. The dark line is {protocol}'s time: what of it counts as the query's own.",
        spec=spec(
            21 * most,
            params=[choice("of_query", "Query", queries, queries[0])] if len(queries) > 1 else [],
            layer=_layers(names, [PARTS[part][1] for part in used], len(queries) > 1),
        ),
        data={"components": bars, "component-times": times},
        marks=len(bars) + len(times),
        alt=f"Stacked bars: the mean {', '.join(names)} of {len(found):,} bars, one for each {by}.",
        section="times",
    )


def _layers(names: list[str], colours: Iterable[str], chosen: bool) -> list[Spec]:
    y = {
        "field": "bar",
        "type": "nominal",
        "sort": {"field": "place", "op": "min"},
        "title": None,
        "axis": {"ticks": False, "domain": False, "labelLimit": 170},
    }
    x = {
        "field": "ms",
        "type": "quantitative",
        "title": "mean time, ms",
        "scale": {"nice": False},
        "axis": {"format": NUMBER, "tickCount": 6},
    }
    choose = [{"filter": "datum.query === of_query"}] if chosen else []
    return [
        {
            "data": {"name": "components"},
            "transform": choose,
            "mark": {"type": "bar", "height": {"band": 0.78}},
            "encoding": {
                "y": y,
                "x": {**x, "stack": "zero"},
                "color": {
                    "field": "part",
                    "type": "nominal",
                    "title": None,
                    "sort": names,
                    "scale": {"domain": names, "range": list(colours)},
                    "legend": {"columns": 3},
                },
                "order": {"field": "order"},
                "tooltip": [
                    {"field": "bar", "title": "bar"},
                    {"field": "part", "title": "part"},
                    {"field": "ms", "title": "mean, ms", "format": ",.4~g"},
                    {"field": "qes", "title": "QEs", "format": ","},
                ],
            },
        },
        {
            "data": {"name": "component-times"},
            "transform": choose,
            "mark": {"type": "tick", "color": "currentColor", "thickness": 2, "bandSize": 19},
            "encoding": {
                "y": y,
                "x": x,
                "tooltip": [{"field": "ms", "title": "calculated, ms", "format": ",.4~g"}],
            },
        },
    ]


def _bar(row: dict[str, Any], place: int) -> dict[str, Any]:
    of = f"{row['cardinality']:,}" if "cardinality" in row else row["query"]
    label = f"{row['dbms']} · {of}"
    return {"query": row.get("query", ""), "bar": label, "place": place}


def _order(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["dbms"], row.get("query", ""), -(row.get("cardinality") or 0)
