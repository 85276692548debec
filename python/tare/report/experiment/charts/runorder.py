"""QEs in run order: where the machine was unsteady, and what the protocol dropped there, by which rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from tare.lab.answers import rows, value
from tare.report.charts.chart import MOST_POINTS, Chart, Row, Spec
from tare.report.charts.theme import BLUE, GREY, NUMBER, PALETTE, SHAPES, spec
from tare.report.experiment.sources import RETAINED

TITLE = "Every QE in run order"
_MOST_RULES = 7
_BINS = 360
_OTHER = "another rule"


def points(qes: ir.Table) -> tuple[list[dict[str, Any]], int]:
    """Return the points to draw, and how many QEs went into one retained point (1: nothing was aggregated).

    The runs stand one after the other: `at` counts QEs over all of them.
    """
    total = value(qes.count())
    first = qes.group_by("run_id").agg(qes_of_run=qes.count(), least=qes.run_order.min())
    first = first.mutate(
        before=first.qes_of_run.sum().over(ibis.cumulative_window(order_by=first.run_id)) - first.qes_of_run
    )
    placed = qes.join(first, "run_id")
    within = ibis.row_number().over(group_by=placed.run_id, order_by=placed.run_order)
    placed = placed.mutate(at=placed.before + within, ratio=placed.measured_ms / placed.typical_ms)
    placed = placed.filter(placed.ratio.notnull())
    if total <= MOST_POINTS:
        drawn = placed.select(
            "at", "ratio", "rule", "query", "dbms", "cardinality", "number", "measured_ms", "run_id"
        ).order_by("at")
        return _named(rows(drawn)), 1
    size = -(-total // _BINS)
    kept = _common_rules(placed)
    placed = placed.mutate(bin=(placed.at // size) * size + size // 2)
    placed = placed.mutate(rule=placed.rule.isin(kept).ifelse(placed.rule, _OTHER))
    summed = placed.group_by(["bin", "rule"]).agg(
        ratio=placed.ratio.median(), low=placed.ratio.quantile(0.05), high=placed.ratio.quantile(0.95),
        qes=placed.count(),
    )  # fmt: skip
    return rows(summed.rename(at="bin").order_by(["at", "rule"])), size


def _common_rules(placed: ir.Table) -> list[str]:
    counted = placed.group_by("rule").agg(n=placed.count())
    found = sorted(rows(counted), key=lambda row: -row["n"])
    dropped = [row["rule"] for row in found if row["rule"] != RETAINED]
    return [RETAINED, *(dropped if len(dropped) <= _MOST_RULES else dropped[: _MOST_RULES - 1])]


def _named(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counted = Counter(row["rule"] for row in found if row["rule"] != RETAINED)
    if len(counted) > _MOST_RULES:
        kept = {name for name, _ in counted.most_common(_MOST_RULES - 1)} | {RETAINED}
        for row in found:
            row["rule"] = row["rule"] if row["rule"] in kept else _OTHER
    return found


def chart(found: list[dict[str, Any]], size: int, runs: Sequence[Row], protocol: str) -> Chart:
    """`runs`: for each run its `name` and the place `at` of its first QE."""
    rules = [name for name, _ in Counter(r["rule"] for r in found if r["rule"] != RETAINED).most_common()]
    whole = size == 1
    low, high = _window(found)
    each = (
        "Each point is a QE."
        if whole
        else f"Each blue point is the median of about {size:,} retained QEs with their 5th to 95th percentile, "
        "each other mark the QEs there that one rule dropped."
    )
    dropped = sum(row.get("qes", 1) for row in found if row["rule"] != RETAINED)
    every = sum(row.get("qes", 1) for row in found)
    return Chart(
        name="run-order",
        title=TITLE,
        caption=f"{each} Blue: retained by {protocol}; other marks: dropped, by rule. Drift would show as a slope, "
        "a disturbance of the machine as marks that leave 1 together. "
        f"Marks on the edge are beyond {low:g} or {high:g}.",
        spec=spec(
            330,
            data={"name": "qes-in-order"},
            layer=[
                *(_runs() if runs else []),
                *(_retained(low, high, whole) if dropped < every else []),
                *([_dropped(rules, low, high, whole)] if rules else []),
            ],
            resolve={"scale": {"color": "independent", "shape": "independent"}},
        ),
        data={"qes-in-order": found, "runs-in-order": runs},
        marks=len(found) + (0 if whole else sum(row["rule"] == RETAINED for row in found)) + 2 * len(runs),
        alt=f"Scatter plot of {every:,} QEs in run order, {dropped:,} of them dropped.",
        section="qes",
    )


def _window(found: list[dict[str, Any]]) -> tuple[float, float]:
    """Wide enough for what was retained, and for the bulk of what was not."""
    kept = [row["ratio"] for row in found if row["rule"] == RETAINED] or [1.0]
    every = sorted(row["ratio"] for row in found) or [1.0]
    bulk = every[len(every) // 50], every[-1 - len(every) // 50]
    low, high = min(0.8, max(min(kept), bulk[0] / 1.1)), max(1.25, min(max(kept), bulk[1] * 1.1))
    return float(f"{low:.2g}"), float(f"{high * 1.02:.2g}")


def _at(low: float, high: float, field: str = "ratio") -> dict[str, Any]:
    return {
        "x": {
            "field": "at",
            "type": "quantitative",
            "title": "QE, in run order",
            "scale": {"nice": False, "zero": True},
            "axis": {"format": ",d", "grid": False},
        },
        "y": {
            "field": field,
            "type": "quantitative",
            "title": "measured time / its Q@C's median (1 = typical)",
            "scale": {"type": "log", "base": 2, "domain": [low, high], "nice": False, "clamp": True},
            "axis": {"format": NUMBER, "tickCount": 6},
        },
    }


def _tooltip(whole: bool) -> list[dict[str, str]]:
    if not whole:
        return [
            {"field": "qes", "title": "QEs here", "format": ","},
            {"field": "ratio", "title": "median ratio", "format": ".3~g"},
            {"field": "rule", "title": "protocol"},
        ]
    return [
        {"field": "query", "title": "query"},
        {"field": "dbms", "title": "DBMS"},
        {"field": "cardinality", "title": "cardinality, rows", "format": ","},
        {"field": "number", "title": "QE"},
        {"field": "measured_ms", "title": "measured, ms", "format": ",.4~g"},
        {"field": "rule", "title": "protocol"},
    ]


def _runs() -> list[Spec]:
    at = {"x": {"field": "at", "type": "quantitative"}}
    rule = {"type": "rule", "color": GREY, "strokeDash": [3, 3]}
    text = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "limit": 150}
    name = {**at, "y": {"value": 2}, "text": {"field": "name"}}
    data = {"name": "runs-in-order"}
    return [{"data": data, "mark": rule, "encoding": at}, {"data": data, "mark": text, "encoding": name}]


def _retained(low: float, high: float, whole: bool) -> list[Spec]:
    kept = [{"filter": f"datum.rule === '{RETAINED}'"}]
    point = {
        "transform": kept,
        "mark": {"type": "point", "filled": True, "size": 14, "color": BLUE, "opacity": 0.5},
        "encoding": {**_at(low, high), "tooltip": _tooltip(whole)},
    }
    spread = {
        "transform": kept,
        "mark": {"type": "rule", "color": BLUE, "opacity": 0.35, "strokeWidth": 1.5},
        "encoding": {**_at(low, high, "low"), "y2": {"field": "high"}},
    }
    return [point] if whole else [spread, point]


def _dropped(rules: list[str], low: float, high: float, whole: bool) -> Spec:
    of_rule = {"field": "rule", "type": "nominal", "title": "dropped by"}
    colours, shapes = list(PALETTE[1 : 1 + len(rules)]), list(SHAPES[: len(rules)])
    return {
        "transform": [{"filter": f"datum.rule !== '{RETAINED}'"}],
        "mark": {"type": "point", "size": 46, "strokeWidth": 1.6},
        "encoding": {
            **_at(low, high),
            "tooltip": _tooltip(whole),
            "color": {**of_rule, "scale": {"domain": rules, "range": colours}},
            "shape": {**of_rule, "scale": {"domain": rules, "range": shapes}},
        },
    }
