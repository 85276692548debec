"""Charts of a tuning run: each arm's effects, one objective against another, and each window's figures over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tare.report.charts.axes import around, down, ratio_layers
from tare.report.charts.chart import Chart, NoChart, Row
from tare.report.charts.theme import BLUE, GOLD, GREEN, GREY, PALETTE, RED, choice, spec
from tare.report.oltp.charts.axes import log_times
from tare.report.ratio import Ratio
from tare.report.tune.document import TuningReport
from tare.tune.arms import AGAIN, BASELINE
from tare.tune.verdicts import Objective, Verdict

_FIGURES = {"mean": "mean", "p99": "p99", "p50": "median", "sd": "standard deviation"}
_TITLE = "Response time of each window"


_RATIO = "arm over baseline (log)"
_INTERVALS = "95% intervals over blocks"
_FLOOR = "noise floor"
_COLOURS = {
    _FLOOR: GREY,
    Verdict.BETTER.value: GREEN,
    Verdict.WORSE.value: RED,
    Verdict.EQUIVALENT.value: BLUE,
    Verdict.UNDECIDED.value: GOLD,
    Verdict.NOT_MEASURED.value: GREY,
}


def effects(report: TuningReport) -> list[Chart | NoChart]:
    """Each arm's effect on each objective, and two objectives against each other."""
    return [_effects(report), *_tradeoff(report)]


def _ratios(report: TuningReport) -> Iterator[tuple[Objective, str, str, Ratio]]:
    """Objective, arm, verdict and ratio; the baseline's copy first."""
    for floor in report.floors:
        if floor.ratio is not None:
            yield floor.objective, AGAIN, _FLOOR, floor.ratio
        for arm in report.arms:
            for result in arm.results:
                if result.objective is floor.objective and result.ratio is not None:
                    yield result.objective, arm.name, result.verdict.value, result.ratio


def _effects(report: TuningReport) -> Chart | NoChart:
    title = "Effect of each arm"
    rows: list[Row] = [
        {
            "place": f"{objective.value}: {arm}",
            "ratio": ratio.value,
            "low": ratio.low,
            "high": ratio.high,
            "verdict": verdict,
        }
        for objective, arm, verdict, ratio in _ratios(report)
    ]
    if not rows:
        return NoChart(title, "no arm has two whole blocks", "verdicts")
    low, high = around([row[end] for row in rows for end in ("low", "high")], least=1.5)
    x = _log_ratio(_RATIO, low, high)
    y = down([row["place"] for row in rows], 240)
    there = [verdict for verdict in _COLOURS if verdict in {row["verdict"] for row in rows}]
    colour = {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": {"domain": there, "range": [_COLOURS[verdict] for verdict in there]},
        "legend": {"columns": 1},
    }
    tooltip = [{"field": field} for field in ("place", "ratio", "low", "high", "verdict")]
    return Chart(
        name="effects",
        title=title,
        caption=f"Points: ratios to the baseline, 1 is no effect; lines: {_INTERVALS}. Less is better, except for "
        "throughput.",
        spec=spec(
            20 * len(rows) + 40,
            data={"name": "tune-effects"},
            layer=ratio_layers({**x, "field": "ratio"}, y, colour, tooltip),
        ),
        data={"tune-effects": rows},
        marks=2 * len(rows) + 1,
        alt=f"Ratios of {len(rows)} pairs of arm and objective; they stand in the table below.",
        section="verdicts",
    )


def _tradeoff(report: TuningReport) -> Iterator[Chart]:
    objectives = [floor.objective for floor in report.floors]
    if len(objectives) < 2 or not report.arms:
        return
    by_arm: dict[str, dict[Objective, Ratio]] = {}
    for objective, arm, _, ratio in _ratios(report):
        by_arm.setdefault(arm, {})[objective] = ratio
    one, other = objectives[:2]
    losing = {arm.name for arm in report.arms if arm.losses}
    rows: list[Row] = [
        {
            "arm": arm,
            "x": found[one].value,
            "x_low": found[one].low,
            "x_high": found[one].high,
            "y": found[other].value,
            "y_low": found[other].low,
            "y_high": found[other].high,
            "durability": "given up" if arm in losing else "kept",
        }
        for arm, found in by_arm.items()
        if one in found and other in found
    ]
    if len(rows) < 2:
        return
    x = _log_ratio(f"{one.value}, {_RATIO}", *_ends(rows, "x"))
    y = _log_ratio(f"{other.value}, {_RATIO}", *_ends(rows, "y"))
    colour = {
        "field": "arm",
        "type": "nominal",
        "title": None,
        "scale": {"domain": [row["arm"] for row in rows], "range": list(PALETTE)},
    }
    shape = {
        "field": "durability",
        "type": "nominal",
        "title": "durability",
        "scale": {"domain": ["kept", "given up"], "range": ["circle", "triangle-up"]},
    }
    tooltip = [
        {"field": field} for field in ("arm", "x", "x_low", "x_high", "y", "y_low", "y_high", "durability")
    ]
    yield Chart(
        name="tradeoff",
        title=f"Trade-off: {one.value} against {other.value}",
        caption=f"Each point is an arm, with {_INTERVALS}; the baseline would be at 1, 1. Worth considering: arms "
        "that no other arm is below and left of.",
        spec=spec(
            280,
            data={"name": "tune-tradeoff"},
            layer=[
                {
                    "mark": {"type": "rule", "opacity": 0.6},
                    "encoding": {
                        "x": {**x, "field": "x_low"}, "x2": {"field": "x_high"},
                        "y": {**y, "field": "y"}, "color": colour, "tooltip": tooltip,
                    },
                },
                {
                    "mark": {"type": "rule", "opacity": 0.6},
                    "encoding": {
                        "y": {**y, "field": "y_low"}, "y2": {"field": "y_high"},
                        "x": {**x, "field": "x"}, "color": colour, "tooltip": tooltip,
                    },
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                    "encoding": {
                        "x": {**x, "field": "x"}, "y": {**y, "field": "y"},
                        "color": colour, "shape": shape, "tooltip": tooltip,
                    },
                },
            ],
        ),
        data={"tune-tradeoff": rows},
        marks=3 * len(rows),
        alt=f"{len(rows)} arms by {one.value} and {other.value}; they stand in the table below.",
        section="verdicts",
    )  # fmt: skip


def _ends(rows: Sequence[Row], axis: str) -> tuple[float, float]:
    return around([1.0, *(row[f"{axis}_{end}"] for row in rows for end in ("low", "high"))], least=1.5)


def _log_ratio(title: str, low: float, high: float) -> dict[str, Any]:
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"format": "~g", "tickCount": 6},
    }


def charts(report: TuningReport) -> list[Chart | NoChart]:
    offset = {0: 0.0}
    for number, _ in enumerate(report.runs[:-1]):
        last = max((window.to_s for window in report.windows if window.run == number), default=0.0)
        offset[number + 1] = offset[number] + last
    rows: list[Row] = [
        {
            "at": (window.from_s + window.to_s) / 2 + offset[window.run],
            "ms": getattr(window, figure),
            "figure": figure_words,
            "arm": window.arm,
            "block": window.block + 1,
        }
        for window in report.windows
        for figure, figure_words in _FIGURES.items()
        if getattr(window, figure)
    ]
    if not rows:
        return [NoChart(_TITLE, "no window has figures", "windows")]
    low, high = around([row["ms"] for row in rows])
    arms = [BASELINE, AGAIN, *(arm.name for arm in report.arms)]
    colour = {
        "field": "arm",
        "type": "nominal",
        "title": None,
        "scale": {"domain": arms, "range": [PALETTE[at % len(PALETTE)] for at in range(len(arms))]},
    }
    x = {"field": "at", "type": "quantitative", "title": "time, s"}
    y = log_times("response time (log)", "ms", low=low, high=high)
    return [
        Chart(
            name="windows",
            title=_TITLE,
            caption="Each point is a window. Arms take turns, so what changes with time meets all of them.",
            spec=spec(
                280,
                params=[choice("figure", "Figure", list(_FIGURES.values()), "mean")],
                data={"name": "tune-windows"},
                transform=[{"filter": "datum.figure === figure"}],
                mark={"type": "point", "filled": True, "size": 40},
                encoding={
                    "x": x,
                    "y": y,
                    "color": colour,
                    "tooltip": [{"field": field} for field in ("arm", "block", "ms")],
                },
            ),
            data={"tune-windows": rows},
            marks=len(rows),
            alt=f"Points of {len(report.windows)} windows of {len(arms)} arms over time.",
            section="windows",
        )
    ]
