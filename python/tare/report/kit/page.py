"""Blocks as one HTML file, in the shell that every report's page has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tare.report.kit.blocks import Block, Charts, Detail, Section, Story, cell
from tare.report.kit.figure import joined_units
from tare.report.page.render import MOST_BYTES, rendered


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with a run stands in the page; the rest is in the JSON report."""

    rows: int
    items: int
    characters: int  # of code
    charts: int  # small ones, side by side


_LIMITS = (Limits(250, 200, 60_000, 40), Limits(60, 40, 15_000, 8), Limits(10, 10, 3_000, 0))


def render(story: Story) -> str:
    """The whole file, below MOST_BYTES: what grows with a run is cut, and says so."""
    all_charts = {id(one): list(one.draw()) for one in _charts(story.blocks)}
    grids = {id(one) for one in _charts(story.blocks) if one.side_by_side}
    page = ""
    for limits in _LIMITS:
        drawn = {
            key: charts[: limits.charts] if key in grids else charts for key, charts in all_charts.items()
        }
        page = rendered(
            "tare.report.kit",
            "story.html",
            [chart for charts in drawn.values() for chart in charts],
            {
                "report": story,
                "charts_of": lambda block, drawn=drawn: drawn[id(block)],
                "left_charts": lambda block, drawn=drawn: len(all_charts[id(block)]) - len(drawn[id(block)]),
                "contents": [(one.key, one.title) for one in story.blocks if isinstance(one, Section)],
                "limits": limits,
            },
            {
                "cell": cell,
                "joined": joined_units,
                "by_group": lambda columns: [
                    list(group) for _, group in groupby(columns, lambda column: column.group)
                ],
            },
        )
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _charts(blocks: Sequence[Block]) -> Iterator[Charts]:
    for block in blocks:
        if isinstance(block, Charts):
            yield block
        elif isinstance(block, Section | Detail):
            yield from _charts(block.blocks)
