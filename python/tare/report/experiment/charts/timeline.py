"""The processes of one QE (TTPv2 Fig. 4): who was there at which snapshot, and what CPU each used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import ibis.expr.types as ir

from tare.lab.answers import rows
from tare.lab.frames import Frames
from tare.measure.records import Fate
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import GREY, NUMBER, ROLES, choice, spec
from tare.report.experiment.sources import RETAINED
from tare.report.numbers import ms_text

TITLE = "Who ran during one QE"
_MOST = 40  # processes shown one by one
_ROOM = 2.4  # margins to the right, for the figures
_MARGIN = 0.07  # of the wall time, on either side: where the snapshots stand

_BEGAN_INSIDE = (Fate.STARTED, Fate.PHANTOM)
_ENDED_INSIDE = (Fate.STOPPED, Fate.PHANTOM, Fate.UNSEEN_END)


def chosen(qes: ir.Table, frames: Frames) -> list[tuple[str, dict[str, Any]]]:
    """Up to three QEs worth looking at, each with why: a typical one, the one that took longest beside its
    Q@C, the one with the most processes that came or went."""
    timed = qes.filter(qes.measured_ms.notnull() & (qes.typical_ms > 0))
    timed = timed.mutate(ratio=timed.measured_ms / timed.typical_ms)
    timed = timed.mutate(off=(timed.ratio - 1).abs())
    kept = timed.filter(timed.rule == RETAINED)
    wanted = ["qe_id", "query", "dbms", "cardinality", "number", "measured_ms", "ratio", "rule"]
    came = frames.process.filter(frames.process.fate != Fate.STEADY.value)
    came = came.group_by("qe_id").agg(moved=came.count())
    moving = timed.join(came, "qe_id", rname="came_{name}")
    asked: Sequence[tuple[str, ir.Table]] = (
        ("typical", kept.order_by([kept.typical_ms.desc(), kept.off, kept.qe_id])),
        ("longest beside its Q@C", timed.order_by([timed.ratio.desc(), timed.qe_id])),
        ("most processes that came or went", moving.order_by([moving.moved.desc(), moving.qe_id])),
    )
    found: dict[int, tuple[str, dict[str, Any]]] = {}
    for why, table in asked:
        for row in rows(table.select(*wanted).limit(1)):
            found.setdefault(row["qe_id"], (why, row))
    return list(found.values())


def processes(frames: Frames, of: Sequence[int]) -> list[dict[str, Any]]:
    process = frames.process
    wanted = process.filter(process.qe_id.isin(list(of)))
    return rows(wanted.select("qe_id", "pid", "comm", "role", "fate", "run_ns", "user_ticks", "system_ticks"))


def chart(
    qes: Sequence[tuple[str, dict[str, Any]]], found: Sequence[dict[str, Any]], tick_ms: float
) -> Chart | NoChart:
    if not qes or not found:
        return NoChart(TITLE, "no process readings are in the lab for these runs", "qes")
    drawn: list[dict[str, Any]] = []
    instants: list[dict[str, Any]] = []
    names = []
    for place, (why, qe) in enumerate(qes, 1):
        name = f"{place}: {why}"
        names.append(name)
        wall = qe["measured_ms"]
        margin = wall * _MARGIN
        drawn += _lines(name, [p for p in found if p["qe_id"] == qe["qe_id"]], wall, margin, tick_ms)
        instants += [
            {"qe": name, "ms": -margin, "what": "snapshot"},
            {"qe": name, "ms": 0.0, "what": "clock"},
            {"qe": name, "ms": wall, "what": "clock"},
            {"qe": name, "ms": wall + margin, "what": "snapshot"},
        ]
    told = "; ".join(
        f"{place}: {why} – {qe['query']} on {qe['dbms']} at {qe['cardinality']:,} rows, QE {qe['number']}, "
        f"{qe['ratio']:.2f} × its Q@C's median, {'retained' if qe['rule'] == RETAINED else 'dropped'}"
        for place, (why, qe) in enumerate(qes, 1)
    )
    return Chart(
        name="timeline",
        title=TITLE,
        caption="A thin line spans the snapshots in which a process was seen; where it is dashed the process began or "
        "ended within the QE, at an instant that the counters do not tell. The bar's length is the CPU time it used "
        f"(its place says nothing). Processes that rested are not shown. {told}.",
        spec=spec(
            19 * max(Counter(line["qe"] for line in drawn).values()),
            data={"name": "processes"},
            params=[choice("qe", "QE", names, names[0])] if len(names) > 1 else [],
            transform=[{"filter": "datum.qe === qe"}] if len(names) > 1 else [],
            layer=_layers(len(names) > 1),
            resolve={"scale": {"strokeDash": "independent"}},
        ),
        data={"processes": drawn, "instants": instants},
        marks=4 * len(drawn) + 2 * len(instants),
        alt="Timeline of processes with their role, when they were there and the CPU time they used. " + told,
        section="qes",
    )


def _lines(
    name: str, found: list[dict[str, Any]], wall: float, margin: float, tick_ms: float
) -> list[dict[str, Any]]:
    roles = list(ROLES)
    for row in found:
        ticks = (row["user_ticks"] or 0) + (row["system_ticks"] or 0)
        row["ms"] = row["run_ns"] / 1e6 if row["run_ns"] is not None else ticks * tick_ms
    ordered = sorted(found, key=lambda row: (row["role"] != "query", -row["ms"]))
    shown, rest = ordered[:_MOST], ordered[_MOST:]
    lines = [
        {
            "label": f"{row['comm']} ({row['pid']})",
            "role": row["role"],
            "fate": row["fate"],
            "ms": row["ms"],
            "from": 0.0 if row["fate"] in _BEGAN_INSIDE else -margin,
            "to": wall if row["fate"] in _ENDED_INSIDE else wall + margin,
            "dashed": row["fate"] != Fate.STEADY,
        }
        for row in sorted(shown, key=lambda row: (roles.index(row["role"]), -row["ms"]))
    ]
    for role in roles:
        others = [row for row in rest if row["role"] == role]
        if others:
            lines.append(
                {
                    "label": f"{len(others)} more",
                    "role": role,
                    "fate": "various",
                    "ms": sum(row["ms"] for row in others),
                    "from": -margin,
                    "to": wall + margin,
                    "dashed": False,
                }
            )
    return [
        {
            **line,
            "qe": name,
            "place": place,
            "text": ms_text(line["ms"]),
            "at": wall + 1.2 * margin,
            "room": wall + (1 + _ROOM) * margin,
        }
        for place, line in enumerate(lines)
    ]


def _layers(several: bool) -> list[dict[str, Any]]:
    y = {
        "field": "label",
        "type": "nominal",
        "sort": {"field": "place", "op": "min"},
        "title": None,
        "axis": {"ticks": False, "domain": False, "labelLimit": 150},
    }
    x = {
        "field": "from",
        "type": "quantitative",
        "title": "time since the clock started, ms",
        "scale": {"nice": False},
        "axis": {"format": NUMBER, "grid": False, "tickCount": 6},
    }
    colour = {
        "field": "role",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(ROLES), "range": list(ROLES.values())},
        "legend": {"columns": 4, "symbolType": "square"},
    }
    tooltip = [
        {"field": "label", "title": "process"},
        {"field": "role", "title": "role"},
        {"field": "fate", "title": "fate"},
        {"field": "ms", "title": "CPU, ms", "format": ",.4~g"},
    ]
    instants = {
        "data": {"name": "instants"},
        "transform": [{"filter": "datum.qe === qe"}] if several else [],
    }
    return [
        {
            **instants,
            "mark": {"type": "rule", "color": GREY, "strokeDash": [2, 3]},
            "encoding": {"x": {"field": "ms", "type": "quantitative"}},
        },
        {
            **instants,
            "mark": {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 10, "angle": 0},
            "encoding": {
                "x": {"field": "ms", "type": "quantitative"},
                "y": {"value": 0},
                "text": {"field": "what"},
            },
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.65},
            "encoding": {
                "y": y,
                "x": x,
                "x2": {"field": "to"},
                "color": colour,
                "strokeDash": {
                    "field": "dashed",
                    "type": "nominal",
                    "scale": {"domain": [False, True], "range": [[1, 0], [3, 4]]},
                    "legend": None,
                },
            },
        },
        {
            "transform": [{"calculate": "0", "as": "begin"}],
            "mark": {"type": "bar", "height": {"band": 0.55}, "minBandSize": 1},
            "encoding": {
                "y": y,
                "x": {"field": "begin", "type": "quantitative"},
                "x2": {"field": "ms"},
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "mark": {"type": "text", "align": "left", "fontSize": 10},
            "encoding": {"y": y, "x": {"field": "at", "type": "quantitative"}, "text": {"field": "text"}},
        },
        {
            "mark": {"type": "point", "opacity": 0},
            "encoding": {"y": y, "x": {"field": "room", "type": "quantitative"}},
        },
    ]
