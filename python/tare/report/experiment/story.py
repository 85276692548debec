"""The story of an experiment's runs: the paper's two paragraphs, what protocols retain, times, and causal models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.protocol.model.groups import tally
from tare.protocol.model.result import ModelResult, Verdict
from tare.report.conditions import story as conditions
from tare.report.experiment.build import Built
from tare.report.experiment.document import Protocol, QatC, Report
from tare.report.kit.blocks import (
    Block,
    Charts,
    Column,
    Detail,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
)
from tare.report.numbers import thousands
from tare.report.protocol import model_story, tables
from tare.report.protocol.paper import NOTE
from tare.report.protocol.story import answer, coefficients

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart


def story(built: Built) -> Story:
    report = built.report
    counts = (
        f"{thousands(sum(run.qatcs for run in report.runs))} Q@Cs, "
        f"{thousands(sum(run.qes for run in report.runs))} QEs · "
    )
    return Story(
        title=report.title,
        under=f"{conditions.under(report, counts)} · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _blocks(built: Built) -> Iterator[Block]:
    report, primary, others = built.report, built.primary, built.others
    yield answer(built.outcome, list(conditions.unfinished(report.runs)))
    statement = "For the paper: how this was measured"
    yield Section("statement", statement, list(_statement(report, primary, others)))
    yield Section("protocols", "The protocols side by side", list(_protocols(built)))
    yield Section(
        "checks", "Sanity checks and what was dropped", list(_checks(primary, others)), printed=False
    )
    yield Section("times", "Times", [_charts(built, "times"), *_times(report, others)])
    yield Section("qes", "QEs", [_charts(built, "qes")], printed=False)
    yield Section("models", "The data against the causal models", list(_models(built)))
    yield from conditions.sections(report, primary.deviations)


def _charts(built: Built, section: str, *, side_by_side: bool = False) -> Charts:
    return Charts(partial(_of_section, built, section), side_by_side)


def _of_section(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]


def _statement(report: Report, primary: Protocol, others: Sequence[Protocol]) -> Iterator[Block]:
    yield from map(Paragraph, primary.statement.paragraphs)
    incomplete = ", ".join(item.name.lower() for item in primary.statement.items if not item.complete)
    by_hand = f" To be completed by hand: {incomplete}." if incomplete else ""
    label = f"{primary.label[:1].upper()}{primary.label[1:]}"
    yield Paragraph(
        f"Written from the data after TTPv2 §9. {label} comes first because {report.primary_why}.{by_hand}",
        Tone.QUIET,
    )
    yield Detail("The nine items, one by one", [
        Table(
            f"The nine items of TTPv2 §9, for {tables.named(primary.protocol)}",
            [Column("item", Kind.NAME), Column("what the data say", Kind.PROSE), Column("complete", Kind.PROSE)],
            [
                [f"{item.number} {item.name}", item.text, "yes" if item.complete else "in part"]
                for item in primary.statement.items
            ],
        )
    ])  # fmt: skip
    for one in others:
        yield Detail(
            f"The same by {tables.named(one.protocol)}", list(map(Paragraph, one.statement.paragraphs))
        )


def _protocols(built: Built) -> Iterator[Block]:
    protocols = built.report.protocols
    yield tables.side_by_side(
        [(one.protocol, one.precision.sanity_checks, one.precision) for one in protocols]
    )
    stopped = "".join(
        f" {one.label[:1].upper()}{one.label[1:]} was stopped: {one.stopped}."
        for one in protocols
        if one.stopped
    )
    yield Paragraph(
        "Relative error: the standard deviation over the median, averaged over the retained Q@Cs. "
        + NOTE
        + stopped,
        Tone.QUIET,
    )
    yield _charts(built, "protocols", side_by_side=True)
    if built.primary.remaining:
        yield tables.remaining(built.primary.protocol, built.primary.remaining)
    for one in built.others:
        if one.remaining:
            yield Detail(
                f"What remains by {tables.named(one.protocol)}",
                [tables.remaining(one.protocol, one.remaining)],
            )
    for one in protocols:
        yield from coefficients(one.coefficients)


def _checks(primary: Protocol, others: Sequence[Protocol]) -> Iterator[Block]:
    yield from _checks_of(primary)
    for one in others:
        yield Detail(f"The checks of {tables.named(one.protocol)}", list(_checks_of(one)))


def _checks_of(one: Protocol) -> Iterator[Block]:
    yield tables.checks(one.protocol, one.checks, one.accepted)
    if one.rules:
        yield _rules(one)
    if one.post:
        yield tables.post_checks(one.protocol, one.post)


def _rules(protocol: Protocol) -> Table:
    return Table(
        f"Rules of {tables.named(protocol.protocol)} that dropped something; a QE counts under each that it broke",
        [
            Column("rule", Kind.NAME),
            Column("step", Kind.PROSE),
            Column("dropped"),
            Column("of what", Kind.PROSE),
            Column("source", Kind.PROSE),
            Column("example", Kind.PROSE),
        ],
        [
            [
                one.rule, one.step, thousands(one.dropped), "QEs" if one.level == "qe" else "Q@Cs", one.source,
                one.example,
            ]
            for one in protocol.rules
        ],
    )  # fmt: skip


def _times(report: Report, others: Sequence[Protocol]) -> Iterator[Block]:
    if not report.times:
        yield Paragraph("No Q@C was timed.", Tone.QUIET)
        return
    yield tables.times(report.primary, [_timed(one, report.primary) for one in report.times])
    if others:
        yield Detail("The same Q@Cs by every protocol", [_by_protocol(report, others)])


def _timed(one: QatC, protocol: str) -> tables.Timed:
    timed = one.times.get(protocol)
    return tables.Timed(
        run=one.run,
        dbms=one.dbms,
        query=one.query,
        cardinality=one.cardinality,
        qes=timed.qes if timed else 0,
        time_ms=timed.time_ms if timed else None,
        low_ms=timed.low_ms if timed else None,
        high_ms=timed.high_ms if timed else None,
        sd_ms=timed.sd_ms if timed else None,
        measured_ms=one.measured_ms,
        rule=timed.rule if timed else None,
        strict=bool(timed and timed.strict),
        relaxed=bool(timed and timed.relaxed),
    )


def _by_protocol(report: Report, others: Sequence[Protocol]) -> Table:
    names = [report.primary, *(one.protocol for one in others)]
    labels = {one.protocol: one.label for one in report.protocols}
    rows: list[Row | str] = []
    timed = [_timed(one, report.primary) for one in report.times]
    for (heading, first), qatc in zip(tables.headed(timed), report.times, strict=True):
        rows += [heading] if heading else []
        rows.append([
            first.query,
            thousands(first.cardinality),
            *(_timed(qatc, name).time.cell(tables.MS, bare=True) for name in names),
        ])  # fmt: skip
    return Table(
        "Times, ms, with 95% intervals",
        [Column("query", Kind.NAME), Column("rows"), *(Column(labels[name]) for name in names)],
        rows,
        grouped=True,
        grows=True,
    )


# Causal models ---------------------------------------------------------------------------
def _models(built: Built) -> Iterator[Block]:
    if not built.models:
        yield Paragraph("No model was checked on these runs.", Tone.QUIET)
    for one in built.models:
        yield model_story.answer(one)
    yield _charts(built, "models")
    for one in built.models:
        title = f"{one.title[:1].upper()}{one.title[1:]}"
        yield Detail(f"{title}: every correlation", [
            Paragraph(f"Over {thousands(one.qes)} QEs. {one.citation}", Tone.QUIET),
            _counts(one),
            *model_story.scope(one.pooled()),
            model_story.every(one.pooled()),
        ])  # fmt: skip


def _counts(result: ModelResult) -> Table:
    scopes = [("all, each scaled by itself", None), *((dbms, dbms) for dbms in result.dbmses)]
    return Table(
        "Verdicts, by DBMS",
        [Column("QEs of", Kind.NAME), *(Column(one.value) for one in Verdict)],
        [[name, *map(str, tally(result.of(dbms)).values())] for name, dbms in scopes],
    )
