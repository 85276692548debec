"""The report as one HTML file: the verdict first, then what was asked and held, then time, types, server, checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tare.report.charts.chart import Chart, NoChart
from tare.report.oltp import view, words
from tare.report.oltp.build import Built
from tare.report.oltp.charts.measures import MOST, moved
from tare.report.oltp.headline import CLOSED, DIFFERENCE, confirmation
from tare.report.page.filters import FILTERS
from tare.report.page.render import MOST_BYTES, rendered
from tare.report.words import dbms_name

CONTENTS = (
    ("findings", "Findings"), ("time", "Over time"), ("types", "By type"), ("distribution", "Distribution"),
    ("server", "The server"), ("checks", "Checks"), ("conditions", "Conditions"), ("reproduce", "How to do it again"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with a run stands in the page; the rest is in the JSON report."""

    rows: int  # failing ones of a condition
    troubles: int
    measures: int


_LIMITS = (Limits(50, 200, MOST), Limits(10, 40, 8), Limits(3, 10, 0))


def render(built: Built) -> str:
    """The whole file, below MOST_BYTES: long lists are cut, and say so."""
    page = ""
    for limits in _LIMITS:
        charts = [*_of(built, "time"), *_of(built, "distribution"), *_of(built, "server")[: limits.measures]]
        page = rendered(
            "tare.report.oltp",
            "oltp.html",
            charts,
            _context(built, charts, limits),
            {**FILTERS, "duration": words.duration, "dbms_name": dbms_name},
        )
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _context(built: Built, charts: list[Chart | NoChart], limits: Limits) -> dict[str, Any]:
    report = built.report
    return {
        "report": report,
        "confirmation": confirmation(report),
        "limits": limits,
        "contents": CONTENTS,
        "asked": view.asked(report),
        "held": view.held(report),
        "headings": {"cells": view.TIMES_HEADINGS, "spread": view.SPREAD_HEADINGS},
        "times": list(view.times_rows(report)),
        "ends": view.ends(report),
        "precision": view.precision(report),
        "difference": DIFFERENCE if report.held.intended_rate is not None else CLOSED,
        "failing": view.failing(report),
        "left_measures": max(0, len(moved(report.measures)) - limits.measures),
        "rested": [words.measure(one.name) for one in report.measures if one not in moved(report.measures)],
        "charts": {
            key: [one for one in charts if one.section == key] for key in ("time", "distribution", "server")
        },
    }


def _of(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]
