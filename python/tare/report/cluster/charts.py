"""Figure 1: wall times of each query on each cluster, over those on the first one."""

from __future__ import annotations

from tare.report.charts.axes import around, down, ratio_layers
from tare.report.charts.chart import Chart, NoChart, Row
from tare.report.charts.theme import PALETTE, spec
from tare.report.cluster.document import SpeedupReport

_TITLE = "Speed-up by cluster"


def charts(report: SpeedupReport) -> list[Chart | NoChart]:
    """Return the speed-ups with their intervals; a dashed line marks 1, ticks mark the ideal."""
    names = [arm.name for arm in report.record.arms[1:]]
    rows: list[Row] = [
        {
            "place": f"{query.query}: {one.arm.name}",
            "cluster": one.arm.name,
            "speedup": one.speedup.value,
            "low": one.speedup.low,
            "high": one.speedup.high,
            "ideal": one.ideal,
        }
        for query in report.queries
        for one in query.arms
        if one.speedup is not None
    ]
    if not rows:
        return [NoChart(_TITLE, "no speed-up has an interval that tells anything", "speed-up")]
    low, high = around([row[end] for row in rows for end in ("low", "high", "ideal")], least=1.5)
    x = {
        "field": "speedup",
        "type": "quantitative",
        "title": "speed-up over the first cluster (log)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
    }
    y = down([row["place"] for row in rows], 240)
    colour = {
        "field": "cluster",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": [PALETTE[number % len(PALETTE)] for number in range(len(names))]},
        "legend": {"columns": 1},
    }
    tooltip = [{"field": field} for field in ("place", "speedup", "low", "high", "ideal")]
    return [
        Chart(
            name="speedup",
            title=_TITLE,
            caption="Points: wall time on the first cluster over that on this one; lines: 95% intervals over blocks; "
            "ticks: as many times the shards. The dashed line is no speed-up.",
            spec=spec(
                20 * len(rows) + 40,
                data={"name": "speedup"},
                layer=[
                    *ratio_layers(x, y, colour, tooltip),
                    {
                        "mark": {"type": "tick", "thickness": 2, "size": 12},
                        "encoding": {
                            "x": {**x, "field": "ideal"},
                            "y": y,
                            "color": {"value": "currentColor"},
                            "tooltip": tooltip,
                        },
                    },
                ],
            ),
            data={"speedup": rows},
            marks=3 * len(rows) + 1,
            alt=f"Speed-ups of {len(rows)} pairs of query and cluster; they stand in the table below.",
            section="speed-up",
        )
    ]
