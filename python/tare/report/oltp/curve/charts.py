"""Charts of a curve, one below the other on one axis of requested rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tare.report.charts.axes import around
from tare.report.charts.chart import Chart, NoChart, Row, Spec
from tare.report.charts.theme import GREY, NUMBER, PALETTE, choice, spec
from tare.report.oltp.charts.axes import left, log_times
from tare.report.oltp.curve.document import CurveReport
from tare.report.oltp.curve.points import FIGURES, WAITS, bounds_of, figure_of, is_wide, load_of, rates

PERCENTILES = ("p50", "p99", "p99.9", "max")
MOMENTS = ("mean", "sd")
SERVICE = ("p50", "p99")
"""Figures whose service times are drawn, thin, below the response times."""

_PADDING = {"top": 18, "left": 2, "right": 12, "bottom": 4}


def charts(report: CurveReport) -> list[Chart | NoChart]:
    return [
        _latency(report, "curve", "Response time over requested rate", _percentiles(report), "p99"),
        _latency(report, "moments", "Mean and standard deviation over requested rate", MOMENTS, "mean"),
        _saturation(report),
    ]


def _percentiles(report: CurveReport) -> Sequence[str]:
    """PERCENTILES, and the one that has a limit."""
    figure = report.limit.figure if report.limit else ""
    return [one for one in FIGURES if one in PERCENTILES or (one == figure and one not in MOMENTS)]


# Latency ---------------------------------------------------------------------------------
def _latency(
    report: CurveReport, name: str, title: str, figures: Sequence[str], first: str
) -> Chart | NoChart:
    several = len(report.arms) > 1
    steps = list(_step_rows(report, figures))
    if not steps:
        return NoChart(title, "no transaction ended", "curve")
    joined = list(_line_rows(report, figures, "response"))
    service = list(_line_rows(report, [one for one in SERVICE if one in figures], "service"))
    whiskers = list(_whisker_rows(report, figures))
    values = [row["ms"] for row in (*steps, *joined, *service) if row["ms"]]
    values += [row[end] for row in whiskers for end in ("low", "high") if row[end]]
    low, high = around(values)
    x = _rate_axis(report)
    y = log_times("response time (log)", "ms", low=low, high=high)
    colour = _colour([arm.label for arm in report.arms] if several else [FIGURES[one] for one in figures])
    kept = [{"filter": "datum.figure === figure"}] if several else []
    points = {"x": x, "y": y, "color": colour, "tooltip": _TOOLTIP}
    layers: list[Spec] = [
        *_behind(report, figures, x, y),
        _lines(f"{name}-service", {"x": x, "y": y, "color": colour}, width=0.8, dash=[2, 2]),
        _lines(f"{name}-lines", {"x": x, "y": y, "color": colour}, width=1.8),
        {
            "data": {"name": f"{name}-whiskers"},
            "transform": kept,
            "mark": {"type": "rule", "strokeWidth": 1.2, "clip": True},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
        },
        *(
            {
                "data": {"name": f"{name}-steps"},
                "transform": [*kept, {"filter": f"{'' if full else '!'}datum.result"}],
                "mark": {"type": "point", "filled": full, "size": 34, "strokeWidth": 1.3},
                "encoding": points,
            }
            for full in (True, False)
        ),
    ]
    for layer in layers[-5:-3]:
        layer["transform"] = kept
    data = {
        f"{name}-steps": steps,
        f"{name}-lines": joined,
        f"{name}-service": service,
        f"{name}-whiskers": whiskers,
        **_data_behind(report, figures),
    }
    found = {key: rows for key, rows in data.items() if rows}
    return Chart(
        name=name,
        title=title,
        caption=_caption(report, figures),
        spec=spec(
            320 if name == "curve" else 220,
            padding=_PADDING,
            params=[choice("figure", "Figure", list(figures), first)] if several else [],
            layer=[layer for layer in layers if "data" not in layer or layer["data"]["name"] in found],
        ),
        data=found,
        marks=sum(len(rows) for rows in found.values()) + 2 * len(figures) * len(report.arms),
        alt=f"Lines of {', '.join(FIGURES[one] for one in figures)} over {len({row['rate'] for row in steps})} "
        f"requested rates; {sum(not step.is_result for step in report.steps)} of {len(report.steps)} steps are no "
        "results and are hollow.",
        section="curve",
    )


def _caption(report: CurveReport, figures: Sequence[str]) -> str:
    several = len(report.arms) > 1
    parts = ["Each point is a step of its own."]
    parts.append(
        "A line passes the middle step of each rate" + ("." if several else ", in a colour for each figure.")
    )
    parts.append("Whiskers: range over the steps of a rate, or the 95% interval of a single one.")
    if any(one in figures for one in SERVICE):
        parts.append("Thin, dashed: service times.")
    if any(not step.is_result for step in report.steps):
        parts.append(
            "Hollow points are no results (over capacity, changed regime or failed), and no line passes them."
        )
    if report.limit is not None and report.limit.figure in figures:
        parts.append("Dashed: the limit. Grey: between the highest rate below it and the lowest above it.")
    return " ".join(parts)


_TOOLTIP = [
    {"field": "arm", "title": "server"},
    {"field": "rate", "title": "requested, 1/s", "format": NUMBER},
    {"field": "sustained", "title": "sustained, 1/s", "format": ",.4~g"},
    {"field": "label", "title": "figure"},
    {"field": "ms", "title": "ms", "format": ",.4~g"},
    {"field": "interval", "title": "95% interval"},
    {"field": "capacity", "title": "capacity"},
    {"field": "run", "title": "run"},
]


def _step_rows(report: CurveReport, figures: Sequence[str]) -> Iterator[dict[str, Any]]:
    for step in report.steps:
        for figure in figures:
            ms = figure_of(step, figure)
            if not ms:
                continue
            bounds = bounds_of(step, figure)
            yield {
                **_series(report, step.arm, figure),
                "rate": step.requested,
                "sustained": step.sustained,
                "ms": ms,
                "interval": f"{bounds[0]:.4g} to {bounds[1]:.4g}" if bounds else "none",
                "result": step.is_result,
                "capacity": f"{step.capacity}: {step.why}",
                "run": f"o{step.run}" if step.run else step.uuid[:8],
            }


def _line_rows(report: CurveReport, figures: Sequence[str], times: str) -> Iterator[dict[str, Any]]:
    """A rate with a step that is no result has no value, which breaks the line."""
    for figure in figures:
        for rate in rates(report):
            ms = rate.middle(figure, times) if rate.is_joined else None
            yield {**_series(report, rate.arm, figure), "rate": rate.requested, "ms": ms}


def _whisker_rows(report: CurveReport, figures: Sequence[str]) -> Iterator[dict[str, Any]]:
    for figure in figures:
        for rate in rates(report):
            whisker = rate.whisker(figure)
            if whisker is not None and whisker[0] > 0:
                low, high = whisker
                yield {**_series(report, rate.arm, figure), "rate": rate.requested, "low": low, "high": high}


def _series(report: CurveReport, arm: int, figure: str) -> dict[str, Any]:
    label = report.arms[arm].label
    return {
        "arm": label,
        "figure": figure,
        "label": FIGURES[figure],
        "series": label if len(report.arms) > 1 else FIGURES[figure],
    }


# Saturation ------------------------------------------------------------------------------
def _saturation(report: CurveReport) -> Chart | NoChart:
    title = "Saturation over requested rate"
    rows: list[dict[str, Any]] = [
        {
            "arm": report.arms[step.arm].label,
            "series": label,
            "rate": step.requested,
            "threads": value,
            "result": step.is_result,
            "run": f"o{step.run}" if step.run else step.uuid[:8],
        }
        for step in report.steps
        for name, label in WAITS.items()
        if (value := load_of(step, name)) is not None
    ]
    labels = [
        label for label in WAITS.values() if any(row["series"] == label and row["threads"] for row in rows)
    ]
    rows = [row for row in rows if row["series"] in labels]
    if not rows:
        return NoChart(title, "no measure of the server was read", "curve")
    lines = [
        {
            "arm": report.arms[rate.arm].label,
            "series": label,
            "rate": rate.requested,
            "threads": rate.load(name) if rate.is_joined else None,
        }
        for name, label in WAITS.items()
        if label in labels
        for rate in rates(report)
    ]
    several = len(report.arms) > 1
    arms = [arm.label for arm in report.arms]
    kept = [{"filter": "datum.arm === server"}] if several else []
    x = _rate_axis(report)
    most = max(row["threads"] for row in rows)
    cpus = max(arm.cpus for arm in report.arms)
    y = {
        "field": "threads",
        "type": "quantitative",
        "title": "threads, on average",
        "scale": {"type": "symlog", "constant": 0.1, "domainMin": 0},
        "axis": {
            "format": NUMBER,
            "values": [
                0,
                *(value for value in (0.1, 0.5, 1, 2, 5, 10, 50, 100, 500) if value <= max(most, cpus)),
            ],
            **left(),
        },
    }
    colour = _colour(labels)
    tooltip = [
        {"field": "series", "title": "measure"},
        {"field": "rate", "title": "requested, 1/s", "format": NUMBER},
        {"field": "threads", "title": "threads", "format": ",.3~g"},
        {"field": "run", "title": "run"},
    ]
    return Chart(
        name="saturation",
        title=title,
        caption="Threads or sessions on average: on a CPU, waiting for one, for a disk or for a lock. Each point is a "
        "step, the line passes the middle one of each rate; hollow: no result. "
        f"Dashed: the machine's {cpus} CPUs. A wait that rises where response times rise names what saturates.",
        spec=spec(
            230,
            padding=_PADDING,
            params=[choice("server", "Server", arms, arms[0])] if several else [],
            layer=[
                {
                    "data": {"name": "cpus"},
                    "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3]},
                    "encoding": {"y": {**y, "field": "threads"}},
                },
                {
                    **_lines("saturation-lines", {"x": x, "y": y, "color": colour}, width=1.4),
                    "transform": kept,
                },
                *(
                    {
                        "data": {"name": "saturation"},
                        "transform": [*kept, {"filter": f"{'' if full else '!'}datum.result"}],
                        "mark": {"type": "point", "filled": full, "size": 22},
                        "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip},
                    }
                    for full in (True, False)
                ),
            ],
        ),
        data={"saturation": rows, "saturation-lines": lines, "cpus": [{"threads": cpus}]},
        marks=len(rows) + len(lines) + 1,
        alt=f"Lines of {', '.join(labels)} over requested rate; at most {most:.3g} threads.",
        section="curve",
    )


# Parts -----------------------------------------------------------------------------------
def _lines(data: str, encoding: Spec, *, width: float, dash: Sequence[int] = ()) -> Spec:
    return {
        "data": {"name": data},
        "mark": {
            "type": "line",
            "strokeWidth": width,
            "invalid": "break-paths-show-domains",
            **({"strokeDash": list(dash)} if dash else {}),
        },
        "encoding": encoding,
    }


def _rate_axis(report: CurveReport) -> Spec:
    found = [step.requested for step in report.steps]
    low, high = min(found), max(found)
    if is_wide(report):
        scale: Spec = {"type": "log", "domain": [low / 1.1, high * 1.1], "nice": False}
    else:
        room = (high - low) * 0.04 or high * 0.1
        scale = {"domain": [max(0.0, low - room), high + room], "nice": False, "zero": False}
    return {
        "field": "rate",
        "type": "quantitative",
        "title": "requested rate, transactions a second",
        "scale": scale,
        "axis": {
            "format": NUMBER,
            "grid": False,
            "tickCount": {"expr": "width < 420 ? 4 : 10"},
            "labelOverlap": "greedy",
            "labelSeparation": 6,
        },
    }


def _colour(labels: Sequence[str]) -> Spec:
    shown = list(dict.fromkeys(labels))
    return {
        "field": "series",
        "type": "nominal",
        "title": None,
        "scale": {"domain": shown, "range": [PALETTE[place % len(PALETTE)] for place in range(len(shown))]},
        "legend": {"columns": {"expr": "width < 420 ? 1 : 4"}, "symbolType": "stroke"},
    }


def _data_behind(report: CurveReport, figures: Sequence[str]) -> dict[str, Sequence[Row]]:
    if report.limit is None or report.limit.figure not in figures:
        return {}
    bands = [
        {"rate": knee.rate, "to": knee.above}
        for knee in report.knees
        if knee.rate is not None and knee.above is not None
    ]
    return {"limit": [{"ms": report.limit.ms}], "bands": bands}


def _behind(report: CurveReport, figures: Sequence[str], x: Spec, y: Spec) -> list[Spec]:
    if report.limit is None or report.limit.figure not in figures:
        return []
    return [
        {
            "data": {"name": "bands"},
            "mark": {"type": "rect", "color": GREY, "opacity": 0.18},
            "encoding": {"x": x, "x2": {"field": "to"}},
        },
        {
            "data": {"name": "limit"},
            "mark": {"type": "rule", "color": GREY, "strokeDash": [4, 3], "strokeWidth": 1.5},
            "encoding": {"y": y},
        },
    ]
