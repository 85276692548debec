"""The story of two profiles: what stands against it, what became of the variance, and by which functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.names import Names
from tare.report.numbers import MINUS
from tare.report.profile import words
from tare.report.profile.comparison import Changed, Comparison, Side, shares
from tare.report.profile.document import Figure
from tare.report.profile.tree import LEAST
from tare.report.words import joined

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_NAME = 80  # characters
_NAMED = 3  # functions in the verdict
_BRIEF = 20  # functions that a terminal shows


def story(comparison: Comparison) -> Story:
    return Story(
        title=comparison.title,
        under=f"written {comparison.written_at[:10]} by Tare {comparison.written_by}",
        written_by=comparison.written_by,
        blocks=[
            *_answer(comparison),
            Facts("", [("before", _side(comparison.before)), ("after", _side(comparison.after))]),
            Section(
                "summary", "Before and after", [_summary(comparison), Charts(partial(_charts, comparison))]
            ),
            Section("functions", "Functions", [_functions(comparison)]),
            Section("method", "How it was computed", [Paragraph(comparison.method, Tone.QUIET)]),
        ],
    )


def answer(comparison: Comparison) -> Story:
    """Return the story of the warnings and the verdict alone."""
    return replace(story(comparison), blocks=list(_answer(comparison)))


def _answer(comparison: Comparison) -> Iterator[Block]:
    warnings = comparison.warnings
    if warnings:
        yield Items([Item(warning, "!", Tone.CAUTION) for warning in warnings])
    is_sure = comparison.variance_ratio is not None and not warnings
    yield Verdict("", " ".join(verdict(comparison)), Tone.GOOD if is_sure else Tone.CAUTION)


def _charts(comparison: Comparison) -> list[Chart | NoChart]:
    from tare.report.profile.charts import paired

    return [paired.chart(comparison)]


def verdict(comparison: Comparison) -> list[str]:
    """Return what became of the variance, and the functions that established it."""
    ratio = comparison.variance_ratio
    if ratio is None:
        return ["Nothing can be said of the variance: there is no interval."]
    part = f"{words.with_interval(ratio)} of what it was"
    if ratio.low <= 1 <= ratio.high:
        return [f"No change of the variance is established: it is {part}."]
    fell = ratio.value < 1
    first = f"The variance {'fell' if fell else 'rose'} to {part}."
    named = [
        f"{words.middle(function.name, 60)} {words.with_interval(function.change)}"
        for function in comparison.functions
        if function.established
        and function.change
        and abs(function.change.value) >= LEAST
        and (function.change.value < 0) == fell
    ]
    if not named:
        return [first, "No function's part in that is established."]
    return [first, f"Of the variance before, by own shares: {joined(named[:_NAMED])}."]


def _summary(comparison: Comparison) -> Table:
    a, b = comparison.before, comparison.after
    ratio = comparison.variance_ratio
    moved = Figure(value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1) if ratio else None
    rows: list[Row] = [
        ["mean", words.ns(a.mean_ns), words.ns(b.mean_ns), _signed(comparison.mean_change)],
        ["standard deviation", words.ns(a.sd_ns), words.ns(b.sd_ns), ""],
        ["variance", "100%", words.percent(ratio.value, 0) if ratio else words.NOTHING, _percent(moved, 0)],
        ["99th percentile", words.ns(a.p99_ns), words.ns(b.p99_ns), _signed(comparison.p99_change)],
        ["transactions", words.thousands(a.transactions), words.thousands(b.transactions), ""],
    ]
    headings = ("before", "after", "change (95% interval)")
    return Table("Durations of transactions", [Column("", Kind.NAME), *map(Column, headings)], rows)


def _signed(change: Figure | None) -> Cell:
    """A change of a time, with its sign."""
    if change is None:
        return Cell(words.NOTHING)
    value, low, high = (
        f"{MINUS if ns < 0 else '+'}{words.ns(abs(ns))}" for ns in (change.value, change.low, change.high)
    )
    return Cell(value, interval=f"({low} to {high})")


def _percent(change: Figure | None, places: int | None = None) -> Cell:
    if change is None:
        return Cell(words.NOTHING)
    value = words.share(change) if places is None else words.percent(change.value, places)
    return Cell(value, interval=f"({words.interval(change)})")


def _functions(comparison: Comparison) -> Table:
    functions = comparison.functions
    names = Names(function.name for function in functions)
    rows: list[Row] = [
        [
            names.cut(function.name, _NAME) + (" (inferred)" if function.inferred else ""),
            *_if_watched(function, [words.percent(part) for part in shares(function, comparison)]),
            _change(function),
            *_if_watched(function, [words.ns(mean) for mean in function.own_mean_ns]),
            *_if_watched(function, [words.calls(calls) for calls in function.calls]),
        ]
        for function in functions
    ]
    headings = (
        "before", "after", "change (95% interval)", "own mean before", "own mean after", "calls before", "calls after",
    )  # fmt: skip
    return Table(
        "Own shares of the variance before; * the interval leaves out 0.",
        [Column("function", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
        brief=_BRIEF,
    )


def _change(function: Changed) -> Cell:
    change = function.change
    if change is None:
        return Cell(words.NOTHING)
    shown = _percent(change)
    mark = " *" if function.established else ""
    return replace(shown, interval=shown.interval + mark, share=change.value, span=(change.low, change.high))


def _if_watched(function: Changed, values: Sequence[str]) -> list[str]:
    """The values before and after; in the place of one, that the function was not watched then."""
    return [
        value if watched else "not watched" for value, watched in zip(values, function.watched, strict=True)
    ]


def _side(side: Side) -> str:
    where = f"{side.dbms} {side.dbms_version}".strip()
    begun = f"begun {side.started_at[:16].replace('T', ' ')}"
    return ", ".join(part for part in (side.run, where, side.backend, begun) if part)
