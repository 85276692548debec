"""Throughput over time: what was due, what ended, and what waited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tare.report.charts.chart import Chart, NoChart, Spec
from tare.report.charts.theme import BLUE, GREY, NUMBER, ORANGE, RED, spec
from tare.report.oltp.charts import axes
from tare.report.oltp.document import OltpReport

TITLE = "Throughput over time"
_DUE, _ENDED, _FAILED = "due", "ended", "failed"
_TOOLTIP = [
    {"field": "what", "title": "transactions"},
    {"field": "at", "title": "second"},
    {"field": "rate", "title": "a second", "format": ",.4~g"},
]


def chart(report: OltpReport) -> Chart | NoChart:
    rows = list(_rows(report))
    if not rows:
        return NoChart(TITLE, "no second was told", "time")
    shown = [name for name in (_DUE, _ENDED, _FAILED) if any(row["what"] == name for row in rows)]
    colours = {_DUE: GREY, _ENDED: BLUE, _FAILED: RED}
    size = axes.bin_size(report)
    x = axes.time_x(report, None)
    y = {
        "field": "rate",
        "type": "quantitative",
        "title": "transactions a second",
        "scale": {"zero": True},
        "axis": {"format": NUMBER, "tickCount": 5, **axes.left()},
    }
    colour = {
        "field": "what",
        "type": "nominal",
        "title": None,
        "scale": {"domain": shown, "range": [colours[name] for name in shown]},
        "legend": {"columns": 3, "symbolType": "square"},
    }
    return Chart(
        name="throughput",
        title=TITLE,
        caption=_caption(report, size),
        spec=spec(
            170,
            data={"name": "throughput"},
            padding={"top": 6, "left": 2, "right": 8, "bottom": 4},
            layer=[
                *axes.behind(report, x, names=False),
                {
                    "transform": [{"filter": f"datum.what !== '{_FAILED}'"}],
                    "mark": {"type": "line", "interpolate": "step-after"},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "strokeWidth": {
                            "condition": {"test": f"datum.what === '{_DUE}'", "value": 5},
                            "value": 1.6,
                        },
                        "opacity": {
                            "condition": {"test": f"datum.what === '{_DUE}'", "value": 0.5},
                            "value": 1,
                        },
                        "color": colour,
                        "tooltip": _TOOLTIP,
                    },
                },
                *([_failed(x, y, colour)] if _FAILED in shown else []),
            ],
        ),
        data={"throughput": rows, **axes.data_behind(report)},
        marks=len(shown) + sum(row["what"] == _FAILED for row in rows) + axes.marks_behind(report),
        alt=f"Steps of {' and '.join(shown)} transactions a second over {len(report.seconds)} seconds.",
        section="time",
    )


def backlog(report: OltpReport) -> Chart | None:
    """None in a closed loop, where nothing can wait to be started."""
    if report.held.intended_rate is None or not report.seconds:
        return None
    size = axes.bin_size(report)
    rows = [
        {
            "at": report.seconds[first].number,
            "backlog": max(one.backlog for one in some),
            "running": max(one.running for one in some),
        }
        for first in range(0, len(report.seconds), size)
        for some in (report.seconds[first : first + size],)
    ]
    rows.append({**rows[-1], "at": report.seconds[-1].number + 1})  # the last step's end
    x = axes.time_x(report, "seconds since the measured part began")
    most = max(max(row["backlog"], row["running"]) for row in rows)
    y: dict[str, Any] = {
        "type": "quantitative",
        "title": "transactions",
        "scale": {"type": "symlog", "domainMin": 0},
        "axis": {
            "format": NUMBER,
            "values": [0, *(10**power for power in range(7) if 10**power <= max(most, 100))],
            **axes.left(),
        },
    }
    lines: dict[str, tuple[str, str]] = {
        "backlog": ("due, not started", ORANGE),
        "running": ("in the DBMS", BLUE),
    }
    return Chart(
        name="backlog",
        title="What waited",
        caption="Transactions that were due and not started at the end of each second, for want of a free connection, "
        f"and those in the DBMS ({report.asked.connections} connections). A backlog that grows means that the rate is "
        "more than can be held.",
        spec=spec(
            130,
            data={"name": "backlog"},
            padding={"top": 6, "left": 2, "right": 8, "bottom": 4},
            layer=[
                *axes.behind(report, x, names=False),
                *(_step(x, {**y, "field": field}, label, lines) for field, (label, _) in lines.items()),
            ],
        ),
        data={"backlog": rows, **axes.data_behind(report)},
        marks=2 + axes.marks_behind(report),
        alt=f"Steps of the backlog over time; at most {max(row['backlog'] for row in rows):,} "
        "transactions waited to be started.",
        section="time",
    )


def _failed(x: Spec, y: Spec, colour: Spec) -> Spec:
    return {
        "transform": [{"filter": f"datum.what === '{_FAILED}'"}],
        "mark": {"type": "point", "filled": True, "size": 26, "shape": "triangle-up"},
        "encoding": {"x": x, "y": y, "color": colour, "tooltip": _TOOLTIP},
    }


def _step(x: Spec, y: Spec, label: str, lines: dict[str, tuple[str, str]]) -> Spec:
    scale = {
        "domain": [one for one, _ in lines.values()],
        "range": [colour for _, colour in lines.values()],
    }
    return {
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "datum": label,
                "type": "nominal",
                "title": None,
                "scale": scale,
                "legend": {"columns": 2, "symbolType": "stroke"},
            },
            "tooltip": [
                {"field": "at", "title": "second"},
                {"field": "backlog", "title": "due, not started", "format": ","},
                {"field": "running", "title": "in the DBMS", "format": ","},
            ],
        },
    }


def _caption(report: OltpReport, size: int) -> str:
    said = (
        "Grey: transactions that were due by the schedule; blue: those that ended."
        if report.held.intended_rate is not None
        else "Transactions that ended; a closed loop has no schedule."
    )
    if any(one.failed for one in report.seconds):
        said += " Red: those that failed, where there were any."
    return said + (f" Means of {size} seconds." if size > 1 else "")


def _rows(report: OltpReport) -> Iterator[dict[str, Any]]:
    size = axes.bin_size(report)
    for first in range(0, len(report.seconds), size):
        some = report.seconds[first : first + size]
        of = {_ENDED: sum(one.ended for one in some)}
        if report.held.intended_rate is not None:
            of[_DUE] = sum(one.offered for one in some)
        if failed := sum(one.failed for one in some):
            of[_FAILED] = failed
        for what, count in of.items():
            yield {"at": some[0].number, "what": what, "rate": count / len(some)}
            if first + size >= len(report.seconds) and what != _FAILED:  # the last step's end
                yield {"at": some[-1].number + 1, "what": what, "rate": count / len(some)}
