"""How a verdict looks in a chart: its colour, and what its tooltip says."""

from __future__ import annotations

from typing import Any

from tare.protocol.model.result import ModelResult, Observed, Verdict
from tare.report.charts.theme import GOLD, GREEN, GREY, RED

COLOURS = {
    Verdict.EXACT: GREEN,
    Verdict.CLOSE: GOLD,
    Verdict.OFF: RED,
    Verdict.NOT_SIGNIFICANT: GREY,
    Verdict.NON_VARYING: GREY,
    Verdict.MISSING: GREY,
}
TOOLTIP = [
    {"field": "name", "title": "cell"},
    {"field": "cause", "title": "of"},
    {"field": "effect", "title": "and"},
    {"field": "predicted", "title": "predicted"},
    {"field": "r", "title": "r", "format": ".3f"},
    {"field": "published", "title": "r in the paper", "format": ".3f"},
    {"field": "p", "title": "p", "format": ".2~g"},
    {"field": "n", "title": "QEs", "format": ","},
    {"field": "verdict", "title": "verdict"},
    {"field": "reason", "title": "note"},
]


def scale() -> dict[str, Any]:
    return {"domain": [one.value for one in COLOURS], "range": list(COLOURS.values())}


def pooled_name(result: ModelResult) -> str:
    """Return the name of all DBMSes together, where a reader can choose."""
    return result.dbmses[0] if len(result.dbmses) == 1 else "all DBMSes"


def row(result: ModelResult, one: Observed) -> dict[str, Any]:
    """Return a correlation as a row of a chart's data."""
    of = one.relationship
    return {
        "name": of.name,
        "dbms": one.dbms or pooled_name(result),
        "cause": of.cause_label,
        "effect": of.effect_label,
        "predicted": of.predicted.value,
        "r": one.r,
        "published": of.published,
        "p": one.p,
        "n": one.n,
        "verdict": one.verdict.value,
        "reason": one.reason or "",
    }
