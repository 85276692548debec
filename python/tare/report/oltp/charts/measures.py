"""Server measures over time, one small chart each, on the time axis of all."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Any

from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, NUMBER, spec
from tare.report.numbers import bytes_text
from tare.report.oltp import words
from tare.report.oltp.charts import axes
from tare.report.oltp.document import OltpReport, Series
from tare.workload.oltp.measures.names import NAMES

TITLE = "The server, second by second"
MOST = 40
"""Small charts; what is more stands in the JSON report."""

_POINTS = 240
_PER_SECOND = {"1/s": "a second", "bytes/s": "a second", "s/s": "s a second"}
_JOINED = {"1": "", "1/s": "/s"}
_BYTES = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, ',.3~g') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, ',.3~g') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, ',.3~g') + ' KiB' : format(datum.value, ',.3~g') + ' B'"
)


def charts(report: OltpReport) -> Iterator[Chart | NoChart]:
    if not report.measures:
        yield NoChart(TITLE, "; ".join(report.unmeasured.values()) or "no server measure was taken", "server")
    for place, one in enumerate([one for one in report.measures if one.moved][:MOST]):
        yield _chart(report, one, place)


def title(of: Series) -> str:
    name = words.measure(of.name)
    if of.unit.startswith("bytes"):  # the axis says so
        name = name.removesuffix(" bytes")
    return name if of.unit in ("", "1", "bytes") else f"{name}, {_PER_SECOND.get(of.unit, of.unit)}"


def _chart(report: OltpReport, of: Series, place: int) -> Chart:
    name = f"measure-{place}"
    size = max(1, -(-len(of.points) // _POINTS))
    rows = [
        {"at": some[0][0], "value": statistics.fmean(value for _, value in some)}
        for first in range(0, len(of.points), size)
        for some in (of.points[first : first + size],)
    ]
    rows.append({"at": rows[-1]["at"] + size, "value": rows[-1]["value"]})  # the last step's end
    x = axes.time_x(report, None)
    x["axis"]["tickCount"] = 5
    measured = [value for second, value in of.points if second >= 0] or [value for _, value in of.points]
    mean = statistics.fmean(measured)
    return Chart(
        name=name,
        title=title(of),
        caption=_meaning(of.name)
        + f"Mean {_shown(mean, of.unit)}, highest {_shown(max(measured), of.unit)}"
        + (f"; means of {size} seconds." if size > 1 else "."),
        spec=spec(
            96,
            data={"name": name},
            padding={"top": 4, "left": 2, "right": 8, "bottom": 2},
            layer=[
                *axes.behind(report, x, names=False),
                {
                    "mark": {"type": "line", "color": BLUE, "strokeWidth": 1.4, "interpolate": "step-after"},
                    "encoding": {
                        "x": x,
                        "y": {
                            "field": "value",
                            "type": "quantitative",
                            "title": None,
                            "scale": {"zero": True},
                            "axis": {**_ticks(of.unit, max(row["value"] for row in rows)), **axes.left()},
                        },
                        "tooltip": [
                            {"field": "at", "title": "second"},
                            {"field": "value", "title": of.unit or "value", "format": ",.4~g"},
                        ],
                    },
                },
            ],
        ),
        data={name: rows, **axes.data_behind(report)},
        marks=1 + axes.marks_behind(report),
        alt=f"{title(of)} over {len(of.points)} seconds: mean {_shown(mean, of.unit)}, "
        f"highest {_shown(max(measured), of.unit)}.",
        section="server",
    )


def _meaning(name: str) -> str:
    known = NAMES.get(name)
    return f"{known.meaning} " if known else ""


def _ticks(unit: str, most: float) -> dict[str, Any]:
    if unit.startswith("bytes") and most > 0:
        step = 2.0 ** math.floor(math.log2(most / 2))
        return {"labelExpr": _BYTES, "values": [place * step for place in range(5)]}
    return {"format": NUMBER, "tickCount": 3}


def _shown(value: float, unit: str) -> str:
    if unit.startswith("bytes") and value >= 0:
        return bytes_text(value) + unit.removeprefix("bytes")
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{digits}{_JOINED[unit]}" if unit in _JOINED else f"{digits} {unit}".rstrip()
