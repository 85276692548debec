"""Blocks as one HTML file, in the shell that every report's page has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from jinja2 import Environment

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
from tare.report.kit.shell import MOST_BYTES, Live, rendered, templates


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with a run stands in the page; the rest is in the JSON report."""

    rows: int
    items: int
    characters: int  # of code
    charts: int  # small ones, side by side
    branches: int  # of a tree
    spare: bool = True  # details that are


_LIMITS = (
    Limits(250, 200, 60_000, 40, 400),
    Limits(60, 40, 15_000, 8, 150),
    Limits(60, 40, 15_000, 8, 150, spare=False),
    Limits(10, 10, 3_000, 0, 40, spare=False),
)
MOST_NAME = 90  # characters of a tree's name


class Limbs:
    """A tree with the names of its branches cut."""

    def __init__(self, tree: Tree, most: int) -> None:
        self.root = tree.cut(most)
        self._names = Names(one.name for one in _branches(self.root))

    def cut(self, name: str) -> str:
        return self._names.cut(name, MOST_NAME)


@dataclass(frozen=True, slots=True)
class Track:
    """A share as a bar from zero, and its interval as a line: places in per cent of the width."""

    zero: float
    left: float
    width: float
    low: float
    high: float
    negative: bool


def render(story: Story, live: Live | None = None) -> str:
    """The whole file, below MOST_BYTES: what grows with a run is cut, and says so."""
    all_charts = {id(one): list(one.draw()) for one in _charts(story.blocks)}
    grids = {id(one) for one in _charts(story.blocks) if one.side_by_side}
    page = ""
    for limits in _LIMITS:
        drawn = {
            key: charts[: limits.charts] if key in grids else charts for key, charts in all_charts.items()
        }
        page = rendered(
            [chart for charts in drawn.values() for chart in charts],
            {
                "report": story,
                "charts_of": lambda block, drawn=drawn: drawn[id(block)],
                "limbs": lambda block, most=limits.branches: Limbs(block, most),
                "left_charts": lambda block, drawn=drawn: len(all_charts[id(block)]) - len(drawn[id(block)]),
                "contents": [(one.key, one.title) for one in story.blocks if isinstance(one, Section)],
                "limits": limits,
            },
            _templates(),
            live,
        )
        if len(page.encode()) < MOST_BYTES:
            break
    return page


@cache
def _templates() -> Environment:
    return templates(
        {
            "cell": cell,
            "joined": joined_units,
            "scales": _scales,
            "track": _track,
            "sizes": _sizes,
            "by_group": lambda columns: [
                list(group) for _, group in groupby(columns, lambda column: column.group)
            ],
        }
    )


def _charts(blocks: Sequence[Block]) -> Iterator[Charts]:
    for block in blocks:
        if isinstance(block, Charts):
            yield block
        elif isinstance(block, Section | Detail):
            yield from _charts(block.blocks)


def _branches(branch: Branch) -> Iterator[Branch]:
    yield branch
    for one in branch.branches:
        yield from _branches(one)


Span = tuple[float, float]


def _scales(table: Table) -> list[Span | None]:
    """By column: bounds that hold zero, each share and each interval; None where the shares have none."""
    found: list[Span | None] = []
    for place in range(len(table.columns)):
        cells = [cell(row[place]) for row in table.rows if not isinstance(row, str)]
        spans = [(one.share, *one.span) for one in cells if one.share is not None and one.span is not None]
        found.append((min(0.0, *map(min, spans)), max(0.0, *map(max, spans))) if spans else None)
    return found


def _track(one: Cell, scale: Span) -> Track | None:
    if one.share is None or one.span is None:
        return None
    low, high = scale

    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low or 1.0), 2)

    left, right = at(min(0.0, one.share)), at(max(0.0, one.share))
    return Track(at(0.0), left, round(right - left, 2), at(one.span[0]), at(one.span[1]), one.share < 0)


def _sizes(columns: Sequence[Column], root: Branch) -> str:
    """Widths of a tree's columns, as CSS has them."""
    cells = [branch.cells for branch in _branches(root)]
    widest = [
        max(len(column.heading), *(len(cell(row[place]).text) for row in cells))
        for place, column in enumerate(columns[1:])
    ]
    return " ".join(("minmax(0, 1fr)", *(f"{0.62 * size + 0.5:.1f}em" for size in widest)))
