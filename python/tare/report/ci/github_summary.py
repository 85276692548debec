"""A summary for a job's page on GitHub: the answer, then a table with the worst query first, of 60 kB at most."""

from __future__ import annotations

from itertools import takewhile

from tare.report.ci.readings import title
from tare.report.kit import markdown
from tare.report.kit.blocks import Block, Cell, Column, Kind, Paragraph, Row, Section, Story, Table
from tare.report.kit.figure import Figure
from tare.report.result import ComparisonResult, MeasureComparison, RunResult
from tare.report.time import comparison
from tare.report.time.sets import is_flagged
from tare.report.time.story import figure
from tare.report.time.story import story as whole_story
from tare.report.words import counted

MOST_BYTES = 60_000


def render(result: RunResult) -> str:
    """Queries that do not fit are counted, so that nothing vanishes unseen."""
    story = whole_story(result)
    answer = list(takewhile(_is_answer, story.blocks))
    table = _compared(result) if result.pairs else _measured(result)
    shown = len(table.rows)
    while True:
        left_out = len(table.rows) - shown
        blocks: list[Block] = [*answer, Table(table.caption, table.columns, table.rows[:shown])]
        if left_out:
            blocks.append(Paragraph(f"and {counted(left_out, 'query', 'queries')} more"))
        text = markdown.render(Story(story.title, story.under, story.written_by, blocks))
        if len(text.encode()) <= MOST_BYTES or shown == 0:
            return text
        shown = shown * 9 // 10


def _is_answer(block: Block) -> bool:
    return not isinstance(block, Section | Table)


def _compared(result: RunResult) -> Table:
    pairs = sorted(result.pairs, key=_badness, reverse=True)
    rows: list[Row | str] = [
        [
            title(pair),
            *_medians(pair.measures[pair.primary]),
            comparison.change(comparison.ratio_of(pair)),
            Cell(pair.gate.verdict if pair.gate is not None else pair.verdict),
        ]
        for pair in pairs
    ]
    label = comparison.LABELS[pairs[0].primary]
    return Table(
        f"B over A in {label}",
        [
            Column("query", Kind.NAME),
            Column("A"),
            Column("B"),
            Column("B over A"),
            Column("verdict", Kind.NAME),
        ],
        rows,
    )


def _medians(measure: MeasureComparison) -> list[Cell]:
    return [Figure(median, unit=measure.unit).cell() for median in measure.medians]


def _badness(pair: ComparisonResult) -> tuple[bool, float]:
    """Queries with a verdict against B first, then by the ratio."""
    ratio = comparison.ratio_of(pair)
    return is_flagged(pair), 0.0 if ratio is None else ratio.estimate


def _measured(result: RunResult) -> Table:
    found = sorted(result.results, key=lambda query: -(query.measures.wall_ms.median or 0.0))
    rows: list[Row | str] = [
        [
            query.name,
            figure(query.measures.wall_ms).cell(),
            figure(query.resources.cpu_ms).cell(),
            query.outcome,
        ]
        for query in found
    ]
    return Table(
        "Medians with 95% intervals",
        [Column("query", Kind.NAME), Column("wall time"), Column("CPU time"), Column("outcome", Kind.NAME)],
        rows,
    )
