"""Blocks as one HTML file, in the shell that every report's page has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tare.report.kit.blocks import (
    Block,
    Branch,
    Cell,
    Charts,
    Column,
    Detail,
    Section,
    Story,
    Table,
    Tree,
    cell,
)
from tare.report.kit.figure import joined_units
from tare.report.kit.names import Names
from tare.report.kit.shell import MOST_BYTES, rendered


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with a run stands in the page; the rest is in the JSON report."""

    rows: int
    items: int
    characters: int  # of code
    charts: int  # small ones, side by side
    branches: int  # of a tree


_LIMITS = (Limits(250, 200, 60_000, 40, 400), Limits(60, 40, 15_000, 8, 150), Limits(10, 10, 3_000, 0, 40))
_MOST_NAME = 90  # characters of a branch's name


class CutTree:
    """A tree with as many branches as the page has room for, and with their names shortened."""

    def __init__(self, tree: Tree, most: int) -> None:
        self.root = tree.cut(most)
        self._names = Names(branch.name for branch in _branches(self.root))

    def name(self, branch: Branch) -> str:
        return self._names.cut(branch.name, _MOST_NAME)

    def sizes(self, columns: Sequence[Column]) -> str:
        """Widths of the columns, as CSS writes them."""
        rows = [branch.cells for branch in _branches(self.root)]
        widest = [
            max(len(column.heading), *(len(cell(row[place]).text) for row in rows))
            for place, column in enumerate(columns[1:])
        ]
        return " ".join(("minmax(0, 1fr)", *(f"{0.62 * size + 0.5:.1f}em" for size in widest)))


@dataclass(frozen=True, slots=True)
class Track:
    """A share as a bar from zero, and its interval as a line: places in per cent of the width."""

    zero: float
    left: float
    width: float
    low: float
    high: float
    negative: bool


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
            "story.html",
            [chart for charts in drawn.values() for chart in charts],
            {
                "report": story,
                "charts_of": lambda block, drawn=drawn: drawn[id(block)],
                "left_charts": lambda block, drawn=drawn: len(all_charts[id(block)]) - len(drawn[id(block)]),
                "contents": [(one.key, one.title) for one in story.blocks if isinstance(one, Section)],
                "cut_tree": lambda block, most=limits.branches: CutTree(block, most),
                "limits": limits,
            },
            {
                "cell": cell,
                "joined": joined_units,
                "scales": _scales,
                "track": _track,
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


def _branches(branch: Branch) -> Iterator[Branch]:
    yield branch
    for below in branch.branches:
        yield from _branches(below)


def _scales(table: Table) -> list[tuple[float, float] | None]:
    """By column: bounds that hold zero, each share and each interval; None where no share has an interval."""
    scales: list[tuple[float, float] | None] = []
    for place in range(len(table.columns)):
        cells = [cell(row[place]) for row in table.rows if not isinstance(row, str)]
        spans = [
            (value.share, *value.span)
            for value in cells
            if value.share is not None and value.span is not None
        ]
        scales.append((min(0.0, *map(min, spans)), max(0.0, *map(max, spans))) if spans else None)
    return scales


def _track(value: Cell, scale: tuple[float, float]) -> Track | None:
    if value.share is None or value.span is None:
        return None
    low, high = scale

    def at(bound: float) -> float:
        return round(100 * (bound - low) / (high - low or 1.0), 2)

    left, right = at(min(0.0, value.share)), at(max(0.0, value.share))
    return Track(at(0.0), left, round(right - left, 2), at(value.span[0]), at(value.span[1]), value.share < 0)
