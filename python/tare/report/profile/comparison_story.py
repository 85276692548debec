"""The story of two profiles: what became of the variance, and by which functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Facts,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.figure import Figure as Shown
from tare.report.kit.names import Names, middle
from tare.report.numbers import MINUS, significant, thousands
from tare.report.profile.comparison import Changed, Comparison, Side, shares
from tare.report.profile.document import Figure
from tare.report.profile.story import share_cell
from tare.report.profile.tree import LEAST
from tare.report.profile.words import share, time
from tare.report.words import NOTHING, dbms_name, joined

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

_NAME = 80  # characters
_NAMED = 3  # functions in the verdict
_MOST = 20  # rows that a terminal shows


def story(found: Comparison) -> Story:
    return Story(
        title=found.title,
        under=f"written {found.written_at[:10]} by Tare {found.written_by}",
        written_by=found.written_by,
        blocks=list(_blocks(found)),
    )


def _blocks(found: Comparison) -> Iterator[Block]:
    sure = found.variance_ratio is not None and not found.warnings
    yield Verdict("", verdict(found), Tone.GOOD if sure else Tone.CAUTION, found.warnings)
    yield Facts("", [("before", _side(found.before)), ("after", _side(found.after))])
    yield Section("summary", "Before and after", [_summary(found), Charts(partial(_charts, found))])
    yield Section("functions", "Functions", [_functions(found)])
    yield Section("method", "How it was computed", [Paragraph(found.method, Tone.QUIET)])


def _charts(found: Comparison) -> list[Chart | NoChart]:
    from tare.report.profile.charts import paired

    return [paired.chart(found)]


def verdict(found: Comparison) -> str:
    """The change of the variance, and the functions that made it."""
    ratio = found.variance_ratio
    if ratio is None:
        return "Nothing can be said of the variance: there is no interval."
    part = f"{share(ratio).text} of what it was"
    if ratio.low <= 1 <= ratio.high:
        return f"No change of the variance is established: it is {part}."
    fell = ratio.value < 1
    first = f"The variance {'fell' if fell else 'rose'} to {part}."
    same = [
        f"{middle(one.name, 60)} {share(one.change).text}"
        for one in found.functions
        if one.established
        and one.change
        and abs(one.change.value) >= LEAST
        and (one.change.value < 0) == fell
    ]
    if not same:
        return f"{first} No function's part in that is established."
    return f"{first} By own shares of the variance before: {joined(same[:_NAMED])}."


def _summary(found: Comparison) -> Table:
    a, b = found.before, found.after
    ratio = found.variance_ratio
    moved = Figure(value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1) if ratio else None
    rows: list[Row] = [
        ["mean", time(a.mean_ns).text, time(b.mean_ns).text, _signed(found.mean_change)],
        ["standard deviation", time(a.sd_ns).text, time(b.sd_ns).text, ""],
        [
            "variance",
            "100%",
            share(ratio.value if ratio else None).cell(),
            share(moved).cell() if ratio else "",
        ],
        ["99th percentile", time(a.p99_ns).text, time(b.p99_ns).text, _signed(found.p99_change)],
        ["transactions", thousands(a.transactions), thousands(b.transactions), ""],
    ]
    headings = ("before", "after", "change [95%]")
    return Table("Durations of transactions", [Column("", Kind.NAME), *map(Column, headings)], rows)


def _signed(change: Figure | None) -> Cell:
    """With its sign: "+1.2 ms"."""
    shown = Shown.read(change, "ns").cell()
    plus = change is not None and change.value >= 0 and not shown.value.startswith(MINUS)
    return replace(shown, value=f"+{shown.value}") if plus else shown


def _functions(found: Comparison) -> Table:
    names = Names(one.name for one in found.functions)
    rows: list[Row] = [
        [
            names.cut(one.name, _NAME) + (" (inferred)" if one.inferred else ""),
            *(_if_watched(one, side, share(value).cell()) for side, value in enumerate(shares(one, found))),
            _change(one),
            *(_if_watched(one, side, time(ns).text) for side, ns in enumerate(one.own_mean_ns)),
            *(_if_watched(one, side, significant(calls)) for side, calls in enumerate(one.calls)),
        ]
        for one in found.functions
    ]
    headings = (
        "before", "after", "change [95%]", "own mean before", "own mean after", "calls before", "calls after",
    )  # fmt: skip
    return Table(
        f"Own shares of the variance before; * the interval leaves out 0; {NOTHING} not watched",
        [Column("function", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
        brief=_MOST,
    )


def _change(changed: Changed) -> Cell:
    shown = share_cell(changed.change)
    return replace(shown, interval=f"{shown.interval} *") if changed.established else shown


def _if_watched(changed: Changed, side: int, cell: Cell | str) -> Cell | str:
    return cell if changed.watched[side] else NOTHING


def _side(side: Side) -> str:
    where = f"{dbms_name(side.dbms)} {side.dbms_version}".strip()
    begun = f"begun {side.started_at[:16].replace('T', ' ')}"
    return ", ".join(part for part in (side.run, where, side.backend, begun) if part)
