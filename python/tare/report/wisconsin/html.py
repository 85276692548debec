"""The report as one HTML file: findings first, a table for each of the paper's, conditions at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tare.report.charts.chart import Chart, NoChart
from tare.report.numbers import fixed
from tare.report.page import conditions
from tare.report.page.filters import FILTERS
from tare.report.page.render import MOST_BYTES, rendered
from tare.report.wisconsin import view
from tare.report.wisconsin.build import Built
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import CITATION, MACHINES

CONTENTS = (
    ("findings", "Findings"), ("questions", "The paper's questions"), ("paper", "The eleven tables"),
    ("queries", "Every query"), ("classes", "Class by class"), ("indexes", "Indexes"), ("sizes", "Cost over size"),
    ("answers", "Answers"), ("missing", "Missing"), ("conditions", "Conditions"), ("reproduce", "How to do it again"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with the runs stands in the page; the rest is in the JSON report."""

    evidence: int  # sentences of an answer
    sizes: int  # whose every query stands in a table, the largest of a generation
    missing: int  # rows
    queries: int
    characters: int  # of SQL and TOML, each


_LIMITS = (
    Limits(60, 4, 200, 200, 30_000),
    Limits(30, 4, 100, 40, 8_000),
    Limits(12, 1, 40, 20, 5_000),
)


def render(built: Built) -> str:
    """The whole file, below MOST_BYTES: long lists are cut, and say so."""
    page = ""
    for limits in _LIMITS:
        page = rendered(
            "tare.report.wisconsin",
            "wisconsin.html",
            built.charts,
            _context(built, limits),
            {**FILTERS, "lower_first": lambda text: text[:1].lower() + text[1:]},
        )
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _context(built: Built, limits: Limits) -> dict[str, Any]:
    report = built.report
    sheet = view.Sheet(report)
    return {
        "report": report,
        "limits": limits,
        "contents": [
            (anchor, name) for anchor, name in CONTENTS if anchor != "paper" or view.tables_of_1983(report)
        ],
        "servers": ", ".join(one.label for one in report.systems),
        "citation": CITATION,
        "machines_1983": MACHINES,
        "tables": [view.paper_table(sheet, table) for table in view.tables_of_1983(report)],
        "every": list(view.every_query(sheet, limits.sizes)),
        "left_sizes": [
            f"{generation}, {fixed(size, 0)}"
            for generation in Generation
            for size in view.sizes(report, generation)[: -limits.sizes]
        ],
        "charts": {key: _of(built, key) for key in ("paper", "classes", "sizes")},
        "speed_ups": view.speed_ups(report),
        "slopes": view.slopes(report),
        "slope_systems": view.slope_systems(report),
        **conditions.context(report, report.exact.deviations, limits),
    }


def _of(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]
