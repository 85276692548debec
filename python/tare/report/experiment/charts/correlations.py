"""The correlation grid: TTPv2 Table VI (and TTPv1 Table 2) with what was found, a cell in its verdict's colour."""

from __future__ import annotations

from typing import Any

from tare.protocol.model.result import ModelResult, Observed, letters, tally
from tare.report.charts.chart import Chart
from tare.report.charts.theme import choice, spec
from tare.report.experiment.charts.verdicts import TOOLTIP, pooled_name, row, scale
from tare.report.model_signs import LEVELS, SIGNS
from tare.report.numbers import MINUS


def chart(result: ModelResult) -> Chart:
    """Pooled, with a choice of each DBMS where there are several."""
    apart = result.dbmses if len(result.dbmses) > 1 else ()
    pooled = result.pooled()
    names = [pooled_name(result), *apart]
    name = f"correlations-{result.model}"
    words = ", ".join(f"{count} {verdict.value}" for verdict, count in tally(pooled).items() if count)
    return Chart(
        name=name,
        title=f"{result.title}, correlation by correlation",
        caption=f"Each cell: the predicted level, and Pearson's r over {result.qes:,} QEs, each DBMS scaled by "
        f"itself. Of {len(pooled)}: {words}. Exact is the predicted level, close one level from it, off two "
        "levels or negative.",
        spec=spec(
            36 * len({one.relationship.group for one in pooled}),
            data={"name": name},
            params=[choice("scope", "QEs of", names, names[0])] if len(names) > 1 else [],
            transform=[{"filter": "datum.dbms === scope"}] if len(names) > 1 else [],
            encoding={
                "x": _axis("letter", letters(pooled), "top"),
                "y": _axis("group", list(dict.fromkeys(one.relationship.group for one in pooled)), "left"),
            },
            layer=[
                {
                    "mark": {
                        "type": "rect",
                        "cornerRadius": 3,
                        "width": {"band": 0.96},
                        "height": {"band": 0.92},
                    },
                    "encoding": {
                        "color": {
                            "field": "verdict",
                            "type": "nominal",
                            "title": None,
                            "scale": scale(),
                            "legend": {"columns": 6, "symbolType": "square"},
                        },
                        "tooltip": TOOLTIP,
                    },
                },
                _text("level", -8, 9, 400),
                _text("found", 6, 11, 600),
            ],
        ),
        data={name: [_cell(result, one) for one in result.observed if one.dbms is None or one.dbms in apart]},
        marks=3 * len(pooled),
        alt=f"A grid of {len(pooled)} predicted correlations: {words}.",
        section="models",
    )


def _axis(field: str, values: Any, orient: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "nominal",
        "sort": list(values),
        "title": None,
        "axis": {"orient": orient, "ticks": False, "domain": False, "labelAngle": 0},
    }


def _text(field: str, dy: int, size: int, weight: int) -> dict[str, Any]:
    return {
        "mark": {"type": "text", "color": "#fff", "dy": dy, "fontSize": size, "fontWeight": weight},
        "encoding": {"text": {"field": field}},
    }


def _cell(result: ModelResult, one: Observed) -> dict[str, Any]:
    return {
        **row(result, one),
        "group": one.relationship.group,
        "letter": one.relationship.letter,
        "level": LEVELS[one.relationship.predicted],
        "found": SIGNS[one.verdict] + ("" if one.r is None else f" {one.r:.3f}".replace("-", MINUS)),
    }
