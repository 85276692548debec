"""Story of a trend: the largest change, then every series and every change."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tare.protocol.changepoints import FEWEST_POINTS
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
)
from tare.report.kit.figure import Figure
from tare.report.result import ShiftResult
from tare.report.time.comparison import LABELS
from tare.report.time.comparison import change as as_change
from tare.report.trend.build import is_slower
from tare.report.trend.document import ChangeReport, SeriesReport, TrendReport
from tare.report.words import NOTHING, dbms_name, joined

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart


def story(report: TrendReport) -> Story:
    return Story(
        title=report.title,
        under=f"{report.lab} · {LABELS[report.measure]} · written {report.written_at[:10]} by Tare "
        f"{report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(report)),
    )


def _blocks(report: TrendReport) -> Iterator[Block]:
    yield Verdict("", _answer(report), _tone(report))
    if not report.series:
        return
    changed = [(one, change) for one in report.series for change in one.changes]
    if changed:
        yield _changes(changed)
    yield Section("series", "Series", [_series(report), Charts(partial(_charts, report))])
    yield Paragraph(
        f"Change points by E-divisive with permutations at the {report.level:.0%} level, on the medians of "
        f"{LABELS[report.measure]}. A change shows after six measurements on six, or three on twenty; a series of "
        f"fewer than {FEWEST_POINTS} is not searched. Machines are never pooled: one with other CPUs, memory or "
        "hypervisor is another series.",
        Tone.QUIET,
    )


def _answer(report: TrendReport) -> str:
    gate = report.gate
    if gate is None:
        return report.headline
    limit = f"{gate.margin * 100:g}% within the last {gate.last} measurements"
    if gate.failed:
        return f"Slower by more than {limit}: {joined(gate.failed)}. {report.headline}"
    return f"No query became slower by more than {limit}. {report.headline}"


def _tone(report: TrendReport) -> Tone:
    if report.gate is not None and report.gate.failed:
        return Tone.BAD
    if any(is_slower(one.changes[-1]) for one in report.series if one.changes):
        return Tone.CAUTION
    return Tone.GOOD if any(one.is_enough for one in report.series) else Tone.CAUTION


def _changes(changed: Sequence[tuple[SeriesReport, ChangeReport]]) -> Table:
    rows: list[Row | str] = [
        [
            one.query,
            f"{dbms_name(one.dbms)}, {one.machine}",
            (change.code or NOTHING)[:12],
            change.started_at[:16].replace("T", " "),
            _ratio(change),
            joined(change.besides) if change.besides else NOTHING,
        ]
        for one, change in sorted(changed, key=lambda pair: pair[1].started_at, reverse=True)
    ]
    return Table(
        "Changes, newest first, with 95% intervals",
        [
            Column("query", Kind.NAME),
            Column("DBMS, machine", Kind.NAME),
            Column("commit", Kind.NAME),
            Column("first seen, UTC", Kind.NAME),
            Column("change"),
            Column("changed besides", Kind.PROSE),
        ],
        rows,
        grows=True,
    )


def _series(report: TrendReport) -> Table:
    rows: list[Row | str] = []
    for one in report.series:
        level = statistics.median(point.value for point in one.segments[-1])
        rows.append(
            [
                one.query,
                f"{dbms_name(one.dbms)} {one.version}",
                Cell(one.machine, note=one.machine_name),
                one.cache,
                str(len(one.points)),
                Figure(level, unit=one.unit).cell(),
                str(len(one.changes)) if one.is_enough else "too few",
            ]
        )
    return Table(
        "Medians since the last change",
        [
            Column("query", Kind.NAME),
            Column("DBMS", Kind.NAME),
            Column("machine", Kind.NAME),
            Column("caches", Kind.NAME),
            Column("measurements"),
            Column(LABELS[report.measure]),
            Column("changes"),
        ],
        rows,
        grows=True,
    )


def _ratio(change: ChangeReport) -> Cell:
    interval = None if change.low is None or change.high is None else (change.low, change.high)
    shown = as_change(ShiftResult(estimate=change.ratio, ci95=interval, ci99=None))
    return replace(shown, tone=Tone.BAD if is_slower(change) else Tone.GOOD)


def _charts(report: TrendReport) -> list[Chart | NoChart]:
    from tare.report.trend.charts import charts

    return charts(report)
