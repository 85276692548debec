"""Shares of functions in the variance, before and after: paired bars."""

from __future__ import annotations

from tare.report.charts.axes import down
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, GREY, spec
from tare.report.profile import words
from tare.report.profile.comparison import Changed, Comparison, shares

TITLE = "What each function has of the variance"

_DRAWN = 16  # functions
_ALWAYS = 3
_LEAST = 0.005  # of the variance before
_SIDES = ("before", "after")


def _drawn(found: Comparison) -> list[Changed]:
    """Functions whose bars can be seen, and the first ones in any case."""
    seen = [
        one
        for place, one in enumerate(found.functions)
        if place < _ALWAYS or max(map(abs, shares(one, found))) >= _LEAST
    ]
    return seen[:_DRAWN]


def chart(found: Comparison) -> Chart | NoChart:
    rows = [
        {
            "place": f"{place} {words.middle(one.name, 40)}",
            "side": side,
            "share": value,
            "change": words.with_interval(one.change),
            "mean": words.ns(mean),
        }
        for place, one in enumerate(_drawn(found), 1)
        for side, value, mean in zip(_SIDES, shares(one, found), one.own_mean_ns, strict=True)
    ]
    if not rows:
        return NoChart(TITLE, "no function was watched", "summary")
    places = list(dict.fromkeys(str(row["place"]) for row in rows))
    return Chart(
        name="paired",
        title=TITLE,
        caption="Own shares of covariance, both as shares of the variance before, so that each side adds up to its "
        "variance; the largest changes first. A bar left of zero: less time where transactions are long.",
        spec=spec(
            34 * len(places) + 40,
            data={"name": "paired"},
            mark={"type": "bar", "opacity": 0.85},
            encoding={
                "y": {**down(places, 170), "scale": {"domain": places, "paddingInner": 0.25}},
                "yOffset": {"field": "side", "type": "nominal", "scale": {"domain": list(_SIDES)}},
                "x": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of the variance before",
                    "axis": {"format": ".0~%", "tickCount": 5},
                },
                "color": {
                    "field": "side",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": list(_SIDES), "range": [GREY, BLUE]},
                    "legend": {"columns": 2},
                },
                "tooltip": [
                    {"field": "place", "title": "function"},
                    {"field": "side", "title": "when"},
                    {"field": "share", "title": "of the variance before", "format": ".1%"},
                    {"field": "change", "title": "change"},
                    {"field": "mean", "title": "own mean"},
                ],
            },
        ),
        data={"paired": rows},
        marks=len(rows),
        alt=f"Paired bars of {len(places)} functions before and after; they stand in the table.",
        section="summary",
    )
