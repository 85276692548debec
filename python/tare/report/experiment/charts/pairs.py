"""Successive QEs of one Q@C against each other (TTPv2 Fig. 8): does a QE depend on the one before?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ibis.expr.types as ir

from tare.lab.answers import rows
from tare.report.charts.chart import MOST_POINTS, Chart, NoChart
from tare.report.charts.theme import BLUE, NUMBER, spec
from tare.report.experiment.sources import RETAINED

TITLE = "Does a QE depend on the one before it?"
_CELLS_ACROSS = 48


def pairs(qes: ir.Table) -> ir.Table:
    """(1st, 2nd), (3rd, 4th), … retained QEs of each Q@C, each over its Q@C's median, so that all can be
    put together: query, dbms, cardinality, number, x, y."""
    kept = qes.filter((qes.rule == RETAINED) & qes.time_ms.notnull())
    middle = kept.group_by("qatc_id").agg(middle_ms=kept.time_ms.median(), of=kept.count())
    kept = kept.join(middle, "qatc_id", rname="middle_{name}")
    kept = kept.filter(kept.middle_ms > 0)
    kept = kept.mutate(ratio=kept.time_ms / kept.middle_ms)
    first = kept.filter(kept.number % 2 == 1)
    first = first.select("qatc_id", "query", "dbms", "cardinality", "number", "of", "ratio")
    second = kept.filter(kept.number % 2 == 0)
    second = second.select(qatc_id=second.qatc_id, before=second.number - 1, y=second.ratio)
    joined = first.join(second, [first.qatc_id == second.qatc_id, first.number == second.before])
    return joined.select(
        "qatc_id", "query", "dbms", "cardinality", "number", "of", x=joined.ratio, y=joined.y
    )


@dataclass(frozen=True, slots=True)
class Found:
    drawn: list[dict[str, Any]]  # points, or cells where there are too many
    n: int  # pairs
    r: float | None  # Pearson's, over all of them
    expected: float | None  # r of independent QEs, each of which is taken beside its own Q@C


def found_of(table: ir.Table) -> Found:
    """Values beside the mean of n of them correlate by -1/(n - 1) though they be independent."""
    each = 1 / (table.of - 1).cast("float64")
    told = rows(table.agg(n=table.count(), r=table.x.corr(table.y, how="pop"), expected=-each.mean()))[0]
    n = told["n"]
    r = told["r"] if n > 2 and told["r"] is not None and math.isfinite(told["r"]) else None
    if n <= MOST_POINTS:
        inorder = table.order_by(["dbms", "query", "cardinality", "qatc_id", "number"])
        drawn = rows(inorder.drop("of", "qatc_id"))
    else:
        drawn = _cells(table)
    return Found(drawn, n, r, told["expected"])


def _cells(table: ir.Table) -> list[dict[str, Any]]:
    spread = rows(table.agg(low=table.x.quantile(0.01), high=table.x.quantile(0.99)))[0]
    low, high = spread["low"], spread["high"]
    width = max((high - low) / _CELLS_ACROSS, 1e-9)
    inside = table.filter((table.x >= low) & (table.x < high) & (table.y >= low) & (table.y < high))
    cells = inside.mutate(x=((inside.x - low) / width).floor(), y=((inside.y - low) / width).floor())
    return [
        {
            "x": low + row["x"] * width,
            "x2": low + (row["x"] + 1) * width,
            "y": low + row["y"] * width,
            "y2": low + (row["y"] + 1) * width,
            "n": row["n"],
        }
        for row in rows(cells.group_by(["x", "y"]).agg(n=cells.count()).order_by(["x", "y"]))
    ]


def verdict(found: Found) -> str:
    """In words, with a 95% band of 1.96/√n about what independent QEs would give."""
    if found.r is None or found.expected is None:
        return "Their correlation cannot be given, the times being all alike"
    band = 1.96 / math.sqrt(found.n)
    said = "as" if abs(found.r - found.expected) <= band else "not as"
    return (
        f"They correlate by r = {_signed(found.r)}, {said} independent QEs would "
        f"({_signed(found.expected)} ± {band:.2f}, since each is set beside its own Q@C)"
    )


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\u2212")


def chart(found: Found, protocol: str) -> Chart | NoChart:
    if found.n < 3:
        return NoChart(TITLE, f"fewer than three pairs of successive QEs were retained by {protocol}", "qes")
    cells = found.n > MOST_POINTS

    def axis(field: str, title: str) -> dict[str, Any]:
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": {"zero": False, "nice": True},
            "axis": {"format": NUMBER, "tickCount": 6},
        }

    x = axis("x", "an odd QE's time / its Q@C's median")
    y = axis("y", "the next QE's time / the same")
    points = {
        "mark": {"type": "point", "filled": True, "size": 18, "color": BLUE, "opacity": 0.55},
        "encoding": {
            "x": x,
            "y": y,
            "tooltip": [
                {"field": "query", "title": "query"},
                {"field": "dbms", "title": "DBMS"},
                {"field": "cardinality", "title": "cardinality, rows", "format": ","},
                {"field": "number", "title": "first QE of the pair"},
            ],
        },
    }
    squares = {
        "mark": {"type": "rect", "color": BLUE},
        "encoding": {
            "x": x,
            "x2": {"field": "x2"},
            "y": y,
            "y2": {"field": "y2"},
            "opacity": {
                "field": "n",
                "type": "quantitative",
                "title": "pairs",
                "scale": {"type": "log", "range": [0.15, 1]},
            },
            "tooltip": [{"field": "n", "title": "pairs", "format": ","}],
        },
    }
    told = verdict(found)
    grid = "; cells of a grid, their strength the number of pairs, the outermost 1% left out" if cells else ""
    return Chart(
        name="pairs",
        title=TITLE,
        caption=f"{found.n:,} pairs of successive retained QEs, all Q@Cs together, each time over its Q@C's median"
        f"{grid}. {told}. A round cloud says that QEs are independent, a slope that they are not.",
        spec=spec(330, data={"name": "pairs"}, **(squares if cells else points)),
        data={"pairs": found.drawn},
        marks=len(found.drawn),
        alt=f"Scatter plot of {found.n:,} pairs of successive QEs. {told}.",
        section="qes",
    )
