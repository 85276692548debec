"""Windows with all probes and with the markers alone, taking turns: the overhead as one sees it, with its noise."""

from __future__ import annotations

from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, ORANGE, spec
from tare.report.profile.document import ProfileReport

TITLE = "Windows with and without probes"

_NAMES = {True: "all probes", False: "markers only"}
_MOST = 300  # the last ones


def chart(report: ProfileReport) -> Chart | NoChart:
    shown = [one for one in report.turns if one.transactions][-_MOST:]
    kinds = [_NAMES[probed] for probed in (True, False) if any(one.probed is probed for one in shown)]
    if len(kinds) < 2:
        return NoChart(TITLE, "there were no windows without probes", "overhead")
    rows = [
        {
            "at": place,
            "ms": one.mean_ns / 1e6,
            "what": _NAMES[one.probed],
            "rate": one.transactions / one.seconds if one.seconds else 0.0,
            "n": one.transactions,
        }
        for place, one in enumerate(shown, 1)
    ]
    colour = {
        "field": "what",
        "type": "nominal",
        "title": None,
        "scale": {"domain": kinds, "range": [ORANGE, BLUE]},
        "legend": {"columns": 2},
    }
    x = {
        "field": "at",
        "type": "quantitative",
        "title": "window",
        "scale": {"nice": False, "domain": [0.5, len(shown) + 0.5]},
        "axis": {"format": "d", "tickMinStep": 1, "grid": False},
    }
    y = {
        "type": "quantitative",
        "title": "mean duration, ms",
        "scale": {"zero": False},
        "axis": {"tickCount": 5},
    }
    return Chart(
        name="windows",
        title=TITLE,
        caption="Each dot is a window, the lines are the means of either kind. The overhead is taken from neighbours, "
        "so that what changes slowly is in both.",
        spec=spec(
            190,
            data={"name": "windows"},
            layer=[
                {
                    "mark": {"type": "rule", "strokeDash": [4, 3], "opacity": 0.8},
                    "encoding": {"y": {**y, "field": "ms", "aggregate": "mean"}, "color": colour},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.9},
                    "encoding": {
                        "x": x,
                        "y": {**y, "field": "ms"},
                        "color": colour,
                        "shape": {**colour, "scale": {"domain": kinds, "range": ["circle", "diamond"]}},
                        "tooltip": [
                            {"field": "at", "title": "window"},
                            {"field": "what", "title": "with"},
                            {"field": "ms", "title": "mean, ms", "format": ",.4~g"},
                            {"field": "rate", "title": "transactions/s", "format": ",.4~g"},
                            {"field": "n", "title": "transactions", "format": ","},
                        ],
                    },
                },
            ],
        ),
        data={"windows": rows},
        marks=len(rows) + 2,
        alt=f"Dots of the mean duration in {len(rows)} windows; the overhead stands in the table beside.",
        section="overhead",
    )
