"""Latency over time: percentiles of each second on a logarithmic scale, where a stall is a spike one cannot miss."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from tare.report.charts.axes import around
from tare.report.charts.chart import Chart, NoChart
from tare.report.charts.theme import BLUE, GREEN, ORANGE, RED, choice, spec
from tare.report.oltp.charts import axes
from tare.report.oltp.document import OltpReport, Quick, Second

TITLE = "Latency over time"

LINES = {"p50": "half within", "p95": "95 of 100 within", "p99": "99 of 100 within", "max": "longest"}
_COLOURS = (BLUE, GREEN, ORANGE, RED)
_TIMES = ("response", "service")


def chart(report: OltpReport) -> Chart | NoChart:
    rows = list(_rows(report))
    every = [row["ms"] for row in rows if row["ms"] is not None]
    if not every:
        return NoChart(TITLE, "no transaction ended", "time")
    size = axes.bin_size(report)
    low, high = around(every)
    open_loop = report.held.intended_rate is not None
    x = axes.time_x(report, None)
    longest = max(every)
    return Chart(
        name="latency",
        title=TITLE,
        caption=_caption(report, size),
        spec=spec(
            300,
            data={"name": "latency"},
            padding={"top": 18, "left": 2, "right": 8, "bottom": 4},
            params=[choice("times", "Times", list(_TIMES), "response")] if open_loop else [],
            transform=[{"filter": "datum.times === times"}] if open_loop else [],
            layer=[
                *axes.behind(report, x, names=True),
                *_lines(x, axes.log_times("latency (log)", "ms", low=low, high=high)),
            ],
        ),
        data={"latency": rows, **axes.data_behind(report)},
        marks=len(rows) + len(LINES) + axes.marks_behind(report),
        alt=f"Lines of the 50th, 95th and 99th percentile and the longest response time over {len(report.seconds)} "
        f"seconds; the longest is {longest:.4g} ms.",
        section="time",
    )


def _caption(report: OltpReport, size: int) -> str:
    what = (
        "Of the transactions that ended in each second: response times from the intended start, and service times "
        "from the real one."
        if report.held.intended_rate is not None
        else "Service times of the transactions that ended in each second."
    )
    said = [what]
    if size > 1:
        said.append(
            f"Each point stands for {size} seconds: the median of their medians, and the highest of their 95th and "
            "99th percentiles and longest times."
        )
    if any(one.number < 0 for one in report.seconds):
        said.append("Grey: outside of the measured part (warm-up before 0, drain at the end).")
    if report.freezes:
        said.append("Red: transactions were due or running and none ended; a line is broken there.")
    if len(report.asked.phases) > 1:
        said.append("Dashed: a new phase, with the rate asked for.")
    return " ".join(said)


def _rows(report: OltpReport) -> Iterator[dict[str, Any]]:
    size = axes.bin_size(report)
    times = _TIMES if report.held.intended_rate is not None else ("service",)
    for first in range(0, len(report.seconds), size):
        some = report.seconds[first : first + size]
        for one in times:
            found = [quick for second in some if (quick := _of(second, one)) is not None]
            ended = sum(second.ended for second in some)
            for line, label in LINES.items():
                yield {
                    "at": some[0].number + len(some) / 2,
                    "second": some[0].number,
                    "times": one,
                    "line": label,
                    "ms": _together(line, found),
                    "ended": ended,
                }


def _of(second: Second, times: str) -> Quick | None:
    found: Quick | None = getattr(second, times)
    return found


def _together(line: str, found: list[Quick]) -> float | None:
    """None breaks the line."""
    if not found:
        return None
    values: list[float] = [getattr(one, line) for one in found]
    return statistics.median(values) if line == "p50" else max(values)


def _lines(x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    colour = {
        "field": "line",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(LINES.values()), "range": list(_COLOURS)},
        "legend": {"columns": {"expr": "width < 420 ? 2 : 4"}, "symbolType": "stroke"},
    }
    tooltip = [
        {"field": "second", "title": "second"},
        {"field": "line", "title": "of its transactions"},
        {"field": "ms", "title": "ms", "format": ",.4~g"},
        {"field": "ended", "title": "ended in it", "format": ","},
    ]
    return [
        {
            "mark": {"type": "line", "strokeWidth": 1.6, "invalid": "break-paths-show-domains"},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 9, "invalid": "filter"},
            "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip},
        },
    ]
