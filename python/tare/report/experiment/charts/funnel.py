"""The drop funnel: what each step of a protocol left (the counts of TTPv2 Table XIII)."""

from __future__ import annotations

from tare.protocol.outcome import Outcome
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, GREEN, spec
from tare.report.words import protocol_name


def chart(outcome: Outcome) -> Chart | NoChart:
    name = protocol_name(outcome.protocol)
    title = f"{name[:1].upper()}{name[1:]}, step by step"
    start = outcome.remaining[0] if outcome.remaining else None
    if start is None or not start.qes or not start.qatcs:
        return NoChart(title, outcome.stopped or "there are no QEs", "protocols")
    rows = [
        {
            "place": place,
            "step": one.step,
            "what": what,
            "share": left / whole,
            "left": left,
            "dropped": dropped,
            "label": f"{left:,}",
        }
        for place, one in enumerate(outcome.remaining)
        for what, left, whole, dropped in (
            ("QEs", one.qes, start.qes, one.dropped_qes),
            ("Q@Cs", one.qatcs, start.qatcs, one.dropped_qatcs),
        )
    ]
    end = outcome.remaining[-1]
    name = f"funnel-{outcome.protocol}"
    encoding = {
        "y": {
            "field": "step",
            "type": "nominal",
            "sort": {"field": "place", "op": "min"},
            "title": None,
            "axis": {"labelLimit": 150, "ticks": False, "domain": False},
        },
        "yOffset": {"field": "what", "type": "nominal", "sort": ["QEs", "Q@Cs"]},
        "x": {
            "field": "share",
            "type": "quantitative",
            "title": "share left, %",
            "scale": {"domain": [0, 1]},
            "axis": {"format": "%", "tickCount": 5, "labelExpr": "datum.value * 100"},
        },
    }
    return Chart(
        name=name,
        title=title,
        caption=f"Of {start.qes:,} QEs in {start.qatcs:,} Q@Cs, {end.qes:,} in {end.qatcs:,} are left at the end. "
        "Bars can only get shorter from one step to the next.",
        spec=spec(
            38 * len(outcome.remaining),
            data={"name": name},
            encoding=encoding,
            layer=[
                {
                    "mark": {"type": "bar", "height": {"band": 0.86}},
                    "encoding": {
                        "color": {
                            "field": "what",
                            "type": "nominal",
                            "title": None,
                            "scale": {"domain": ["QEs", "Q@Cs"], "range": [BLUE, GREEN]},
                        },
                        "tooltip": [
                            {"field": "step", "title": "step"},
                            {"field": "what", "title": "of"},
                            {"field": "left", "title": "left", "format": ","},
                            {"field": "dropped", "title": "dropped here", "format": ","},
                        ],
                    },
                },
                {
                    "mark": {
                        "type": "text",
                        "align": "left",
                        "x": 4,
                        "color": "#fff",
                        "fontSize": 10,
                        "fontWeight": 600,
                    },
                    "encoding": {"x": {"value": 4}, "text": {"field": "label"}},
                },
            ],
        ),
        data={name: rows},
        marks=2 * len(rows),
        alt=f"Bars: from {start.qatcs:,} Q@Cs at the start to {end.qatcs:,} at the end.",
        section="protocols",
    )
