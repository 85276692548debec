"""What the page's template shows: the document's numbers as text, its long lists cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare.report.experiment.build import Built
from tare.report.experiment.document import Model, Protocol, Report, Step, Timed
from tare.report.experiment.paper import NOTE, TTP1, TTP2
from tare.report.numbers import decimals, fixed, thousands
from tare.report.page import conditions, filters
from tare.report.words import NOTHING, two_digits

if TYPE_CHECKING:
    from tare.report.experiment.html import Limits


def steps(remaining: Sequence[Step]) -> list[dict[str, Any]]:
    """With what each dropped as a count and as a share of what there was before."""
    found = []
    for place, step in enumerate(remaining):
        before = remaining[place - 1] if place else step
        found.append(
            {
                "step": step.step,
                "qes": step.qes,
                "qatcs": step.qatcs,
                "dropped_qes": _dropped(step.dropped_qes, before.qes) if place else "",
                "dropped_qatcs": _dropped(step.dropped_qatcs, before.qatcs) if place else "",
            }
        )
    return found


def _dropped(n: int, before: int) -> str:
    return f"{thousands(n)} ({two_digits(n / before)})" if n and before else thousands(n)


CONTENTS = (
    ("statement", "For the paper"), ("protocols", "Protocols"), ("checks", "Checks and drops"), ("times", "Times"),
    ("qes", "QEs"), ("models", "Causal models"), ("missing", "Missing"), ("conditions", "Conditions"),
    ("reproduce", "How to do it again"),
)  # fmt: skip


FILTERS: Mapping[str, Callable[..., Any]] = {**filters.FILTERS, "steps": steps}


# Context ------------------------------------------------------------------------------
def context(built: Built, limits: Limits) -> dict[str, Any]:
    report = built.report
    primary = report.protocol(report.primary)
    assert primary is not None
    others = [one for one in report.protocols if one is not primary]
    sections = ("protocols", "times", "qes", "models")
    return {
        "report": report,
        "contents": CONTENTS,
        "primary": primary,
        "others": others,
        "servers": ", ".join(sorted({f"{one.dbms} {one.version}" for one in report.runs})),
        "total": {
            "qatcs": sum(run.qatcs for run in report.runs),
            "qes": sum(run.qes for run in report.runs),
        },
        "incomplete": ", ".join(item.name.lower() for item in primary.statement.items if not item.complete),
        "published": [{"title": "TTPv1"}, {"title": "TTPv2"}],
        "paper_note": NOTE,
        "side_by_side": side_by_side(report),
        "charts": {key: [one for one in built.charts if one.section == key] for key in sections},
        "times": {
            "rows": [
                time_row(report, place, others) for place in range(min(limits.times, len(report.times)))
            ],
            "left": max(0, len(report.times) - limits.times),
        },
        "models": [model_view(one) for one in report.models],
        **conditions.context(report, primary.deviations, limits),
    }


def side_by_side(report: Report) -> list[dict[str, Any]]:
    """The rows of TTPv2 Table XVII, ours and the papers'."""

    def row(name: str, field: str, text: Any) -> dict[str, Any]:
        return {
            "name": name,
            "here": [text(getattr(one.precision, field)) for one in report.protocols],
            "paper": [text(getattr(one, field)) for one in (TTP1, TTP2)],
        }

    def share(value: float | None) -> str:
        return NOTHING if value is None else two_digits(value)

    def tenth(value: float | None) -> str:
        return NOTHING if value is None else f"{value:.1f}"

    return [
        row("sanity checks", "sanity_checks", str),
        row("retained Q@Cs", "retained_qatcs", share),
        row("QEs per retained Q@C", "qes_per_retained_qatc", tenth),
        row("relative error, measured time", "relative_error_measured", share),
        row("relative error, calculated time", "relative_error_calculated", share),
    ]


def time_row(report: Report, place: int, others: Sequence[Protocol]) -> dict[str, Any]:
    one = report.times[place]
    of = one.times.get(report.primary)
    return {
        "query": one.query,
        "dbms": one.dbms,
        "cardinality": one.cardinality,
        **time_cells(of),
        "measured": NOTHING if one.measured_ms is None else fixed(one.measured_ms, _places(one.measured_ms)),
        "others": [time_cells(one.times.get(other.protocol))["time"] for other in others],
        "remark": remark(of),
    }


def time_cells(of: Timed | None) -> dict[str, str]:
    """No more digits than the interval carries."""
    if of is None or of.time_ms is None:
        return {"time": NOTHING, "interval": "", "sd": "", "qes": str(of.qes) if of else ""}
    half = None
    if of.low_ms is not None and of.high_ms is not None:
        half = (of.high_ms - of.low_ms) / 2
    places = min(3, decimals(of.time_ms, half or of.sd_ms))
    interval = ""
    if of.low_ms is not None and of.high_ms is not None:
        interval = f"[{fixed(of.low_ms, places)}, {fixed(of.high_ms, places)}]"
    return {
        "time": fixed(of.time_ms, places),
        "interval": interval,
        "sd": "" if of.sd_ms is None else fixed(of.sd_ms, min(3, decimals(of.sd_ms, of.sd_ms))),
        "qes": str(of.qes),
    }


def _places(value: float) -> int:
    return min(3, decimals(value, None))


def remark(of: Timed | None) -> str:
    if of is None:
        return ""
    if of.rule:
        return f"dropped: {of.rule}"
    if of.relaxed:
        return "slower than at more rows, beyond the spread"
    return "slower than at more rows" if of.strict else ""


def model_view(model: Model) -> dict[str, Any]:
    pooled = [one for one in model.observed if one.dbms is None]
    scopes = [("all, each scaled by itself", None), *((dbms, dbms) for dbms in model.dbmses)]
    letters = sorted({one.name[len(one.group) :] for one in pooled})
    return {
        "title": model.title,
        "citation": model.citation,
        "qes": model.qes,
        "verdicts": list(model.verdicts),
        "letters": letters,
        "counts": [
            {
                "name": name,
                "counts": [
                    sum(one.verdict == verdict for one in model.observed if one.dbms == dbms)
                    for verdict in model.verdicts
                ],
            }
            for name, dbms in scopes
        ],
        "groups": [
            {
                "name": group,
                "cells": [
                    next((_cell(one) for one in pooled if one.name == f"{group}{letter}"), None)
                    for letter in letters
                ],
            }
            for group in dict.fromkeys(one.group for one in pooled)
        ],
    }


def _cell(one: Any) -> dict[str, Any]:
    return {
        "cause": one.cause,
        "effect": one.effect,
        "predicted": one.predicted,
        "r": NOTHING if one.r is None else f"{one.r:.2f}".replace("-", "\u2212"),
        "verdict": one.verdict,
        "kind": one.verdict if one.verdict in ("exact", "close", "off") else "unsaid",
        "published": None if one.published is None else f"{one.published:.2f}",
        "reason": one.reason,
    }
