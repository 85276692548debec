"""The report as one HTML file: the verdict first, then the tree, factors, types, the tail, and what it all cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tare.lab.profile_about import FailureKind
from tare.report.charts.chart import Chart, NoChart
from tare.report.page.filters import FILTERS
from tare.report.page.render import MOST_BYTES, rendered
from tare.report.profile import view, words
from tare.report.profile.bars import bars
from tare.report.profile.branches import branches
from tare.report.profile.build import Built
from tare.report.profile.document import ProfileReport
from tare.report.profile.names import worded
from tare.report.profile.tree import LEAST

CONTENTS = (
    ("findings", "Findings"), ("tree", "Variance tree"), ("factors", "Factors"), ("time", "Time and types"),
    ("tail", "The tail"), ("overhead", "Overhead"), ("rounds", "Rounds"), ("conditions", "Conditions"),
    ("reproduce", "How to do it again"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with a profile stands in the page; the rest is in the JSON report."""

    paths: int
    factors: int
    types: int
    refused: int


_LIMITS = (Limits(400, 25, 40, 200), Limits(150, 15, 20, 40), Limits(40, 10, 5, 10))


def render(built: Built) -> str:
    """The whole file, below MOST_BYTES: long lists are cut, and say so."""
    page = ""
    for limits in _LIMITS:
        page = rendered("tare.report.profile", "profile.html", built.charts, _context(built, limits), FILTERS)
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _context(built: Built, limits: Limits) -> dict[str, Any]:
    report = built.report
    factors = _factors(report, limits.factors)
    return {
        "report": report,
        "contents": CONTENTS,
        "verdict": _verdict(report),
        "tree": branches(report, limits.paths),
        "left_paths": max(0, len(report.nodes) - limits.paths),
        "shares": view.SHARES,
        "score": view.SCORE,
        "sums": view.sums(report),
        "factors": factors,
        "left_factors": len(report.factors) - len(factors),
        "type_headings": view.TYPE_HEADINGS,
        "types": list(view.type_rows(report, limits.types, 60)),
        "left_types": max(0, len(report.types) - limits.types),
        "tail_headings": view.TAIL_HEADINGS,
        "tail": list(view.tail_rows(report, limits.factors, 60)),
        "overhead": view.overhead_rows(report),
        "rounds": list(view.round_rows(report)),
        "round_headings": view.ROUND_HEADINGS,
        "rounds_said": view.rounds(report),
        "round_bars": _round_bars(report),
        "conditions": view.conditions(report),
        "left_out": [words.middle(one, 60) for one in report.left_out[: limits.refused]],
        "refused": list(report.refused.items())[: limits.refused],
        "left_refused": max(0, len(report.refused) - limits.refused),
        "charts": {key: _of(built, key) for key in ("tree", "time", "tail", "overhead")},
    }


def _verdict(report: ProfileReport) -> str:
    if report.failure is not None:
        return "The server hangs" if report.failure.kind == FailureKind.SERVER_HANGS else "The server ended"
    if not report.valid:
        return "Not valid"
    return "Too few transactions" if report.enough is not None else "Valid"


def _factors(report: ProfileReport, most: int) -> list[dict[str, Any]]:
    """The first ones; then those with a share to speak of, negative ones too, which come last by score."""
    of = list(zip(report.factors, view.factor_rows(report, len(report.factors), 90), strict=True))
    ranked = [
        (rank, one, row)
        for rank, (one, row) in enumerate(of, 1)
        if rank <= view.TOP or (one.share is not None and abs(one.share.value) >= LEAST)
    ]
    kept = ranked if len(ranked) <= most else [*ranked[: most - most // 5], *ranked[-(most // 5) :]]
    drawn = bars([one.share for _, one, _ in kept])
    return [
        {
            "rank": rank,
            "cells": dict(zip(view.FACTOR_HEADINGS, row, strict=True)),
            "bar": bar,
            "own_interval": words.interval(one.own_covariance),
            "whole": worded(one, str) if "…" in row[0] else "",
        }
        for (rank, one, row), bar in zip(kept, drawn, strict=True)
    ]


def _round_bars(report: ProfileReport) -> list[tuple[str, int, float]]:
    """Name, rounds, and per cent of the longer."""
    if report.naive_rounds is None or not report.rounds:
        return []
    most = max(len(report.rounds), report.naive_rounds, 1)
    of = (("refinement", len(report.rounds)), ("level after level", report.naive_rounds))
    return [(name, n, round(100 * n / most, 2)) for name, n in of]


def _of(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]
