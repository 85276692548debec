"""The structural graph of a causal model (TTPv1 Fig. 3, TTPv2 Fig. 3): nodes are measures, each arc is a
predicted correlation in the colour of its verdict, for query processes and for the others apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tare.protocol.model.result import ModelResult, Observed, tally
from tare.report.charts.chart import Chart
from tare.report.charts.theme import BLUE, GREY, choice, spec
from tare.report.experiment.charts.graph_layout import HEIGHT, LABEL_AT, NODES, WIDTH
from tare.report.experiment.charts.verdicts import TOOLTIP, pooled_name, row, scale
from tare.report.model_signs import SIGNS
from tare.report.numbers import MINUS

PARTS = ("query", "utility", "daemon")
DIRECTED = frozenset({"ttp2"})
"""TTPv1's table predicts correlations along paths too, which have no direction."""

NODE_HIGH, PILL_HIGH = 26, 15  # px
ROOM = 9  # between an arrow's point and its node

_Point = tuple[float, float]


def charts(result: ModelResult) -> list[Chart]:
    """Return a graph for each type of process. Arcs between overall measures are in that of the query processes."""
    return [_chart(result, part) for part in PARTS]


def part_of(one: Observed) -> str:
    ends = {_type(one.relationship.cause), _type(one.relationship.effect)} - {"overall"}
    return ends.pop() if ends else "query"


def node_wide(label: str) -> float:
    return 6.3 * len(label) + 16


def _chart(result: ModelResult, part: str) -> Chart:
    name = f"graph-{result.model}-{part}"
    mine = [one for one in result.observed if part_of(one) == part]
    apart = result.dbmses if len(result.dbmses) > 1 else ()
    arcs = [_arc(result, one) for one in mine if one.dbms is None or one.dbms in apart]
    drawn = [one for one in mine if one.dbms is None]
    nodes = _nodes(result, part, drawn)
    of = {one: count for one, count in tally(drawn).items() if count}
    words = ", ".join(f"{count} {verdict.value}" for verdict, count in of.items())
    names = [pooled_name(result), *apart]
    high = HEIGHT[result.model]
    lines, heads, *pills = _arc_layers(f"{name}-arcs", high, chosen=len(names) > 1)
    layers = [lines, *([heads] if result.model in DIRECTED else []), *pills, *_boxes(f"{name}-nodes", high)]
    return Chart(
        name=name,
        title=f"{result.title}: {part} processes",
        caption=f"Each line is a predicted correlation: its cell in the paper's table, a sign ({_legend()}) and r. "
        f"Pooled: {words}."
        + ("" if result.model in DIRECTED else " Lines have no direction where a path lies between the two."),
        spec=spec(
            high,
            width=WIDTH,
            autosize={"type": "pad"},
            params=[choice("scope", "QEs of", names, names[0])] if len(names) > 1 else [],
            layer=layers,
        ),
        data={f"{name}-arcs": arcs, f"{name}-nodes": nodes},
        marks=4 * len(drawn) + 2 * len(nodes),
        alt=f"A graph of {len(nodes)} measures and {len(drawn)} predicted correlations: {words}.",
        section="models",
    )


def _legend() -> str:
    return ", ".join(f"{sign} {verdict.value}" for verdict, sign in SIGNS.items())


def _type(measure: str) -> str:
    return measure.split("_", 1)[0]


def _kind(measure: str) -> str:
    """Return the key of a measure's place: an overall one's name, any other's name without the type."""
    return measure if _type(measure) == "overall" else measure.split("_", 1)[1]


def _nodes(result: ModelResult, part: str, drawn: Sequence[Observed]) -> list[dict[str, Any]]:
    measures = dict.fromkeys(
        name for one in drawn for name in (one.relationship.cause, one.relationship.effect)
    )
    places = NODES[result.model]
    nodes = []
    for measure in measures:
        label, x, y = places[_kind(measure)]
        wide = node_wide(label) / 2
        whole = _type(measure) == "overall"
        nodes.append(
            {
                "measure": measure,
                "label": label,
                "type": "overall" if whole else part,
                "x": x,
                "y": y,
                "left": x - wide,
                "right": x + wide,
                "top": y - NODE_HIGH / 2,
                "bottom": y + NODE_HIGH / 2,
                "colour": GREY if whole else BLUE,
            }
        )
    return nodes


def _arc(result: ModelResult, one: Observed) -> dict[str, Any]:
    """From box to box, in px, with the place of its label."""
    places = NODES[result.model]
    ends = _kind(one.relationship.cause), _kind(one.relationship.effect)
    (from_label, *start), (to_label, *end) = places[ends[0]], places[ends[1]]
    a = _edge((start[0], start[1]), (end[0], end[1]), node_wide(from_label), 2)
    b = _edge(
        (end[0], end[1]), (start[0], start[1]), node_wide(to_label), ROOM if result.model in DIRECTED else 2
    )
    at = LABEL_AT[result.model].get(ends, 0.5)
    x, y = a[0] + at * (b[0] - a[0]), a[1] + at * (b[1] - a[1])
    text = f"{one.relationship.name} {SIGNS[one.verdict]}"
    text += "" if one.r is None else f" {one.r:.3f}".replace("-", MINUS)
    wide = 5.6 * len(text) + 8
    return {
        **row(result, one),
        "text": text,
        "x": a[0],
        "y": a[1],
        "x2": b[0],
        "y2": b[1],
        "angle": math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])) + 90,
        "lx": x,
        "ly": y,
        "left": x - wide / 2,
        "right": x + wide / 2,
        "top": y - PILL_HIGH / 2,
        "bottom": y + PILL_HIGH / 2,
    }


def _edge(of: _Point, towards: _Point, wide: float, room: float) -> _Point:
    """Return the point where the line from a node's middle leaves its box, `room` px further."""
    dx, dy = towards[0] - of[0], towards[1] - of[1]
    length = math.hypot(dx, dy)
    reach = min(
        wide / 2 / abs(dx) if dx else math.inf,
        NODE_HIGH / 2 / abs(dy) if dy else math.inf,
    )
    share = reach + room / length
    return of[0] + share * dx, of[1] + share * dy


# Layers ----------------------------------------------------------------------------------
def _at(high: int, x: str, y: str, **more: str) -> dict[str, Any]:
    def place(field: str, most: int, down: bool) -> dict[str, Any]:
        extent = {"domain": [0, most], "nice": False, "zero": False, "reverse": down}
        return {"field": field, "type": "quantitative", "axis": None, "scale": extent}

    ends = {name: {"field": field} for name, field in more.items()}
    return {"x": place(x, WIDTH, False), "y": place(y, high, True), **ends}


def _arc_layers(name: str, high: int, chosen: bool) -> list[dict[str, Any]]:
    """Lines, arrow heads, and labels: a box and its text."""
    data: dict[str, Any] = {"data": {"name": name}}
    if chosen:
        data["transform"] = [{"filter": "datum.dbms === scope"}]
    colour = {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": scale(),
        "legend": {"columns": 6},
    }
    seen = {"color": colour, "tooltip": TOOLTIP}
    angle = {"field": "angle", "type": "quantitative", "scale": None}
    return [
        {
            **data,
            "mark": {"type": "rule", "strokeWidth": 1.6, "opacity": 0.75},
            "encoding": {**_at(high, "x", "y", x2="x2", y2="y2"), **seen},
        },
        {
            **data,
            "mark": {"type": "point", "shape": "triangle-up", "filled": True, "size": 55, "opacity": 1},
            "encoding": {**_at(high, "x2", "y2"), **seen, "angle": angle},
        },
        {
            **data,
            "mark": {"type": "rect", "cornerRadius": 4, "opacity": 1},
            "encoding": {**_at(high, "left", "top", x2="right", y2="bottom"), **seen},
        },
        {
            **data,
            "mark": {"type": "text", "color": "#fff", "fontSize": 10, "fontWeight": 600},
            "encoding": {**_at(high, "lx", "ly"), "text": {"field": "text"}},
        },
    ]


def _boxes(name: str, high: int) -> list[dict[str, Any]]:
    """Nodes: those of a type of process in blue, overall ones in grey."""
    fill = {"field": "colour", "type": "nominal", "scale": None}
    return [
        {
            "data": {"name": name},
            "mark": {
                "type": "rect",
                "cornerRadius": 5,
                "opacity": 1,
                "strokeWidth": 1.5,
                "fillOpacity": 0.16,
            },
            "encoding": {
                **_at(high, "left", "top", x2="right", y2="bottom"),
                "fill": fill,
                "stroke": fill,
                "tooltip": [{"field": "measure", "title": "measure"}],
            },
        },
        {
            "data": {"name": name},
            "mark": {"type": "text", "fontSize": 12},
            "encoding": {**_at(high, "x", "y"), "text": {"field": "label"}},
        },
    ]
