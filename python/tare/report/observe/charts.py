"""Charts of a run's last executions: their wall times, and the machine on the same axis."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from tare.lab.live import Execution
from tare.measure.records import Outcome
from tare.report.charts.axes import time_axis
from tare.report.charts.chart import Chart
from tare.report.charts.theme import BLUE, GREY, ORANGE, RED, spec
from tare.report.numbers import thousands

GROUP_TICKS = 100
"""Ticks behind a point of the machine's chart: each is 1% of it."""

BUSY, STOLEN = "busy", "taken by other guests"


class Use(StrEnum):
    COUNTS = "counts"
    WARM_UP = "warm-up"
    DOES_NOT_COUNT = "does not count"


COLOURS = {Use.COUNTS: BLUE, Use.WARM_UP: GREY, Use.DOES_NOT_COUNT: RED}


def draw(executions: Sequence[Execution]) -> list[Chart]:
    """`executions`: newest first; at least one has a wall time."""
    timed = [one for one in reversed(executions) if one.wall_ns]
    first, last = timed[0], timed[-1]
    scope = f"executions {thousands(first.order)} to {thousands(last.order)}"
    axis = {"field": "order", "type": "quantitative", "title": "execution", "scale": {"zero": False}}
    walls = [
        {"order": one.order, "ms": one.wall_ns / 1e6, "use": _use(one), "query": one.query}  # type: ignore[operator]
        for one in timed
    ]
    found = [
        Chart(
            "walls",
            "Wall times",
            f"Each point is an execution, {scope}.",
            spec(
                240,
                data={"name": "walls"},
                mark={"type": "point", "filled": True, "size": 22, "opacity": 0.7},
                encoding={
                    "x": axis,
                    "y": {
                        "field": "ms",
                        "type": "quantitative",
                        "title": "wall time",
                        "scale": {"type": "log"},
                        "axis": time_axis(5),
                    },
                    "color": {
                        "field": "use",
                        "type": "nominal",
                        "title": None,
                        "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
                    },
                    "tooltip": [{"field": name} for name in ("order", "query", "ms", "use")],
                },
            ),
            {"walls": walls},
            len(walls),
            f"Wall times of {scope}; the last took {last.wall_ns / 1e6:.4g} ms.",  # type: ignore[operator]
            "executions",
        )
    ]
    shares = _shares(timed)
    if shares:
        found.append(
            Chart(
                "machine",
                "The machine meanwhile",
                "Share of the machine's CPU time during the executions: busy with anything, and taken by other "
                f"guests of the host (steal). Each point puts executions together until {GROUP_TICKS} ticks passed.",
                spec(
                    140,
                    data={"name": "machine"},
                    mark={"type": "line", "strokeWidth": 1.2},
                    encoding={
                        "x": axis,
                        "y": {
                            "field": "share",
                            "type": "quantitative",
                            "title": "CPU time",
                            "scale": {"domain": [0, 1]},
                            "axis": {"format": "%"},
                        },
                        "color": {
                            "field": "of",
                            "type": "nominal",
                            "title": None,
                            "scale": {"domain": [BUSY, STOLEN], "range": [BLUE, ORANGE]},
                        },
                    },
                ),
                {"machine": shares},
                len(shares),
                f"Busy and stolen shares of the machine's CPU time during {scope}.",
                "executions",
            )
        )
    return found


def _use(one: Execution) -> Use:
    if one.warmup:
        return Use.WARM_UP
    is_counted = one.number is not None and one.outcome != Outcome.FAILED.value
    return Use.COUNTS if is_counted else Use.DOES_NOT_COUNT


def _shares(timed: Sequence[Execution]) -> list[dict[str, object]]:
    """`timed`: oldest first."""
    found: list[dict[str, object]] = []
    ticks = busy = stolen = 0
    for one in timed:
        if one.ticks is None or one.busy_ticks is None or one.stolen_ticks is None:
            continue
        ticks, busy, stolen = ticks + one.ticks, busy + one.busy_ticks, stolen + one.stolen_ticks
        if ticks >= GROUP_TICKS:
            found.append({"order": one.order, "share": busy / ticks, "of": BUSY})
            found.append({"order": one.order, "share": stolen / ticks, "of": STOLEN})
            ticks = busy = stolen = 0
    return found
