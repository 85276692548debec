"""Time over cardinality, one line for each query, with the monotonicity violations marked."""

from __future__ import annotations

from statistics import median
from typing import Any

from tare.report.charts.chart import MOST_MARKS, Chart, NoChart
from tare.report.charts.theme import NUMBER, PALETTE, RED, choice, spec
from tare.report.experiment.document import QatC

TITLE = "Time over cardinality"
_EVERY = "every query"
_MARKS_EACH = 5  # a point, its place on a line, its interval, two rings
_BINS = 40


def chart(times: list[QatC], protocol: str, title: str) -> Chart | NoChart:
    timed = [one for one in times if protocol in one.times and one.times[protocol].time_ms is not None]
    if not timed:
        return NoChart(TITLE, f"no Q@C was retained by {title}", "times")
    violated = sum(one.times[protocol].strict for one in timed)
    beyond = sum(one.times[protocol].relaxed for one in timed)
    dbmses = sorted({one.dbms for one in timed})
    whole = len(timed) * _MARKS_EACH <= MOST_MARKS
    rows = _rows(timed, protocol) if whole else _summed(timed, protocol)
    queries = list(dict.fromkeys(row["query"] for row in rows)) if whole else []
    return Chart(
        name="cardinality",
        title=TITLE,
        caption=(
            "Each line is a query on one DBMS and under one plan; points are medians, bars their 95% intervals. "
            "Choose one query to see it alone. "
            if whole
            else f"Medians over the queries, the cardinalities put together in {_BINS} classes for each DBMS. "
        )
        + f"A ring marks a Q@C that took longer than the same plan at the next higher cardinality: {violated:,} of "
        f"{len(timed):,}; {beyond:,} of them (doubled ring) by more than half a standard deviation of each.",
        spec=spec(
            340,
            data={"name": "times"},
            params=[choice("query", "Query", [_EVERY, *queries], _EVERY)] if len(queries) > 1 else [],
            transform=[{"filter": f"query === '{_EVERY}' || datum.query === query"}]
            if len(queries) > 1
            else [],
            layer=_layers(dbmses, whole),
        ),
        data={"times": rows},
        marks=_MARKS_EACH * len(rows),
        alt=f"Lines of time against cardinality for {len(timed):,} Q@Cs; {violated:,} monotonicity violations.",
        section="times",
    )


def _rows(timed: list[QatC], protocol: str) -> list[dict[str, Any]]:
    return [
        {
            "query": one.query,
            "dbms": one.dbms,
            "line": f"{one.run} {one.number} {one.plan}",
            "cardinality": one.cardinality,
            "ms": of.time_ms,
            "low": of.low_ms,
            "high": of.high_ms,
            "from": of.low_ms if of.low_ms and of.high_ms else of.time_ms,
            "to": of.high_ms if of.low_ms and of.high_ms else of.time_ms,
            "qes": of.qes,
            "violation": ("relaxed" if of.relaxed else "strict") if of.strict else None,
        }
        for one in timed
        for of in (one.times[protocol],)
    ]


def _summed(timed: list[QatC], protocol: str) -> list[dict[str, Any]]:
    least = min(one.cardinality for one in timed)
    width = max(1, -(-(max(one.cardinality for one in timed) + 1 - least) // _BINS))
    classes: dict[tuple[str, int], list[QatC]] = {}
    for one in timed:
        classes.setdefault((one.dbms, (one.cardinality - least) // width), []).append(one)
    found = []
    for (dbms, at), members in sorted(classes.items()):
        values = [one.times[protocol] for one in members]
        found.append(
            {
                "query": "",
                "dbms": dbms,
                "line": dbms,
                "cardinality": least + at * width + width // 2,
                "ms": median(value.time_ms for value in values if value.time_ms is not None),
                "qes": sum(value.qes for value in values),
                "violation": "relaxed"
                if any(value.relaxed for value in values)
                else "strict"
                if any(value.strict for value in values)
                else None,
            }
        )
    return found


def _layers(dbmses: list[str], whole: bool) -> list[dict[str, Any]]:
    x = {
        "field": "cardinality",
        "type": "quantitative",
        "title": "cardinality of the variable table, rows",
        "axis": {"format": "~s", "grid": False, "tickCount": 8},
        "scale": {"zero": False, "padding": 12},
    }
    y = {
        "field": "ms",
        "type": "quantitative",
        "title": "calculated time, ms (log)",
        "scale": {"type": "log", "nice": False, "padding": 10},
        "axis": {"format": NUMBER, "tickCount": 6},
    }
    colour = {
        "field": "dbms",
        "type": "nominal",
        "title": None,
        "scale": {"domain": dbmses, "range": [PALETTE[i % len(PALETTE)] for i in range(len(dbmses))]},
    }
    tooltip = [
        {"field": "query", "title": "query"},
        {"field": "dbms", "title": "DBMS"},
        {"field": "cardinality", "title": "cardinality, rows", "format": ","},
        {"field": "ms", "title": "time, ms", "format": ",.4~g"},
        {"field": "low", "title": "95% from, ms", "format": ",.4~g"},
        {"field": "high", "title": "95% to, ms", "format": ",.4~g"},
        {"field": "qes", "title": "QEs retained", "format": ","},
        {"field": "violation", "title": "violates monotonicity"},
    ]
    ring = {"type": "point", "color": RED, "strokeWidth": 1.8, "filled": False}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "strokeWidth": 1.3, "opacity": 0.75},
            "encoding": {"x": x, "y": y, "color": colour, "detail": {"field": "line"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 24, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip if whole else tooltip[1:]},
        },
        {
            "mark": {**ring, "size": 130},
            "encoding": {"x": x, "y": y, "opacity": _only("datum.violation")},
        },
        {
            "mark": {**ring, "size": 270},
            "encoding": {"x": x, "y": y, "opacity": _only("datum.violation === 'relaxed'")},
        },
    ]
    if whole:
        layers.insert(
            1,
            {
                "mark": {"type": "rule", "opacity": 0.6},
                "encoding": {"x": x, "y": {**y, "field": "from"}, "y2": {"field": "to"}, "color": colour},
            },
        )
    return layers


def _only(test: str) -> dict[str, Any]:
    """Marks that fail the test are there, unseen: a layer that a choice left empty would have no scale."""
    return {"condition": {"test": test, "value": 1}, "value": 0}
