"""The report as one HTML file: words, tables and charts, its long tables cut to a page's size."""

from __future__ import annotations

from dataclasses import dataclass

from tare.report.experiment import view
from tare.report.experiment.build import Built
from tare.report.page.render import MOST_BYTES, rendered


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with the experiment stands in the page; the rest is in the JSON report."""

    times: int  # rows
    missing: int
    queries: int
    characters: int  # of SQL and TOML, each


_LIMITS = (Limits(250, 200, 400, 60_000), Limits(60, 40, 60, 15_000), Limits(10, 10, 5, 3_000))


def render(built: Built) -> str:
    """The whole file, below MOST_BYTES: long tables are cut, and say so."""
    page = ""
    for limits in _LIMITS:
        page = _page(built, limits)
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _page(built: Built, limits: Limits) -> str:
    return rendered(
        "tare.report.experiment", "page.html", built.charts, view.context(built, limits), view.FILTERS
    )
