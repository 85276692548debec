"""The story of an experiment: answer, paragraphs for a paper, checks, times, models and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.lab.ids import experiment_id
from tare.lab.states import RunState
from tare.report.conditions.blocks import conditions_blocks, deviations, missing_blocks, reproduce_blocks
from tare.report.experiment.build import Built
from tare.report.experiment.document import (
    Check,
    Correlation,
    Model,
    Precise,
    Protocol,
    QatC,
    Report,
    Step,
    Timed,
)
from tare.report.experiment.paper import NOTE, TTP1, TTP2, Published
from tare.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Detail,
    Heading,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
    section_charts,
)
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale, fixed, significant, thousands
from tare.report.safe import short
from tare.report.words import NOTHING, counted, joined, one_decimal, two_digits

_MS = Scale("ms", 1.0)
_OPENED = 60  # rows of times that a page shows without a click
_LEVELS = (
    ("experiment", "experiment-wide checks (the shape of TTPv2 Table X)", "count"),
    ("qe", "QE checks (Table XI)", "share"),
    ("qatc", "Q@C checks (Table XII)", "share"),
)
_QUALITY = (1, 2, 3)  # post-sanity checks of what is retained: variation and monotonicity
_TONES = {"exact": Tone.GOOD, "close": Tone.CAUTION, "off": Tone.BAD}


def story(built: Built) -> Story:
    report = built.report
    return Story(
        title=report.title,
        under=_under(report),
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _under(report: Report) -> str:
    servers = ", ".join(sorted({f"{run.dbms} {run.version}" for run in report.runs}))
    begun = report.runs[0].started_at[:10] if report.runs else NOTHING
    return (
        f"{len(report.runs)} run{'' if len(report.runs) == 1 else 's'} on {servers} · "
        f"{thousands(sum(run.qatcs for run in report.runs))} Q@Cs, "
        f"{thousands(sum(run.qes for run in report.runs))} QEs · first begun {begun} · "
        f"written {report.written_at[:10]} by Tare {report.written_by}"
    )


def _blocks(built: Built) -> Iterator[Block]:
    report = built.report
    primary = report.protocol(report.primary)
    assert primary is not None
    others = [one for one in report.protocols if one is not primary]
    yield _answer(report, primary)
    yield Section(
        "statement", "For the paper: how this was measured", list(_statement(report, primary, others))
    )
    yield Section("protocols", "The protocols side by side", list(_protocols(built)), printed=False)
    yield Section(
        "checks", "Sanity checks and what was dropped", list(_all_checks(primary, others)), printed=False
    )
    yield Section("times", "Times", list(_times(built, primary, others)), printed=False)
    yield Section("qes", "QEs", [section_charts(built, "qes")], printed=False)
    yield Section("models", "The causal models checked against the data", list(_models(built)), printed=False)
    yield Section("missing", "Missing queries and failed Q@Cs", missing_blocks(report), printed=False)
    yield Section("conditions", "Conditions", conditions_blocks(report, primary.deviations), printed=False)
    yield Section("reproduce", "How to do it again", reproduce_blocks(report), printed=False)


def _name(protocol: Protocol) -> str:
    """Label of the protocol at the start of a sentence."""
    return _capital(protocol.label)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# The answer ------------------------------------------------------------------------------
def _answer(report: Report, primary: Protocol) -> Verdict:
    name = _name(primary)
    if primary.stopped:
        return Verdict("", f"{name} was stopped, so no time is reported: {primary.stopped}.", Tone.BAD)
    if not primary.remaining or not primary.remaining[-1].qatcs:
        return Verdict("", f"{name} retained no Q@C, so no time is reported.", Tone.BAD)
    start, end = primary.remaining[0], primary.remaining[-1]
    against = list(_against(report, primary, start.qatcs - end.qatcs))
    return Verdict(
        "",
        f"{name} reports the times of {thousands(end.qatcs)} of {thousands(start.qatcs)} Q@Cs "
        f"({two_digits(end.qatcs / start.qatcs)}), from {thousands(end.qes)} of {thousands(start.qes)} QEs.",
        Tone.CAUTION if against else Tone.GOOD,
        against,
    )


def _against(report: Report, primary: Protocol, dropped: int) -> Iterator[str]:
    """Return each reason for which a reader may not rely on the times alone."""
    for run in report.runs:
        if run.state != RunState.DONE:
            yield f"run {experiment_id(run.id)} is {run.state}"
    if report.missing:
        yield counted(len(report.missing), "query or Q@C has no time", "queries or Q@Cs have no time")
    if dropped:
        yield counted(dropped, "Q@C was dropped", "Q@Cs were dropped")
    violated = [f"“{one.name}”" for one in primary.checks if one.level == "experiment" and one.violations]
    if violated:
        yield f"violations of experiment-wide checks: {joined(violated)}"
    unjudged = sum(one.unjudged is not None for one in primary.checks)
    if unjudged:
        yield f"{counted(unjudged, 'check')} could not be judged, or only in part"
    for post in primary.post:
        if post.number in _QUALITY and post.value != 0:
            yield f"post-sanity check “{post.name}”: {_of_unit(post.value, post.unit)}"
    recorded = len(deviations(report, primary.deviations))
    if recorded:
        yield counted(
            recorded, "deviation from the protocol is recorded", "deviations from the protocol are recorded"
        )


def _statement(report: Report, primary: Protocol, others: Sequence[Protocol]) -> Iterator[Block]:
    items = primary.statement.items
    incomplete = ", ".join(item.name.lower() for item in items if not item.complete)
    by_hand = f" To be completed by hand: {incomplete}." if incomplete else ""
    yield from map(Paragraph, primary.statement.paragraphs)
    yield Paragraph(
        f"Written from the data after TTPv2 §9. {_name(primary)} comes first because {report.primary_why}.{by_hand}",
        Tone.QUIET,
    )
    nine: list[Block] = []
    for item in items:
        part = "" if item.complete else " (complete in part)"
        nine += [Heading(f"{item.number}. {item.name}{part}"), Paragraph(item.text)]
    yield Detail("The nine items, one by one", nine)
    for one in others:
        yield Detail(f"The same by {one.label}", [Paragraph(text) for text in one.statement.paragraphs])


# Protocols -------------------------------------------------------------------------------
def _protocols(built: Built) -> Iterator[Block]:
    report = built.report
    yield _side_by_side(report)
    yield Paragraph(
        "Relative error: the standard deviation over the median, averaged over the retained Q@Cs. " + NOTE,
        Tone.QUIET,
    )
    for one in report.protocols:
        if one.stopped:
            yield Paragraph(f"{_name(one)} was stopped: {one.stopped}.", Tone.CAUTION)
    yield section_charts(built, "protocols", side_by_side=True)
    for one in report.protocols:
        if one.remaining:
            yield Detail(
                f"QEs and Q@Cs left after each step of {one.label}",
                [_steps(one)],
                opened=one.protocol == report.primary,
            )
    for one in report.protocols:
        if one.coefficients:
            yield _coefficients(one)


def _side_by_side(report: Report) -> Table:
    """Rows of TTPv2 Table XVII, of this experiment and of the papers."""
    listed: list[Precise | Published] = [*(one.precision for one in report.protocols), TTP1, TTP2]
    ours = len(report.protocols)

    def row(name: str, values: Sequence[str]) -> Row:
        return [name, *values[:ours], *(Cell(value, tone=Tone.QUIET) for value in values[ours:])]

    rows: list[Row] = [
        row("sanity checks", [str(one.sanity_checks) for one in listed]),
        row("retained Q@Cs", [_share(one.retained_qatcs) for one in listed]),
        row("QEs per retained Q@C", [one_decimal(one.qes_per_retained_qatc) for one in listed]),
        row("relative error, measured time", [_share(one.relative_error_measured) for one in listed]),
        row("relative error, calculated time", [_share(one.relative_error_calculated) for one in listed]),
    ]
    return Table(
        "On these runs, beside what the papers report of theirs (TTPv2 Table XVII)",
        [
            Column("", Kind.NAME),
            *(Column(f"{one.label}, here") for one in report.protocols),
            *map(Column, ("TTPv1, paper", "TTPv2, paper")),
        ],
        rows,
    )


def _share(value: float | None) -> str:
    return NOTHING if value is None else two_digits(value)


def _of_unit(value: float | None, unit: str) -> str:
    if value is None:
        return NOTHING
    return two_digits(value) if unit == "share" else fixed(value, 0)


def _steps(protocol: Protocol) -> Table:
    rows: list[Row] = []
    before: Step | None = None
    for step in protocol.remaining:
        rows.append(
            [
                step.step,
                thousands(step.qes),
                _dropped(step.dropped_qes, before.qes) if before else "",
                thousands(step.qatcs),
                _dropped(step.dropped_qatcs, before.qatcs) if before else "",
            ]
        )
        before = step
    return Table(
        f"{_name(protocol)}: what remains after each sub-step (the shape of TTPv2 Table XIII)",
        [Column("step", Kind.NAME), *map(Column, ("QEs", "dropped", "Q@Cs", "dropped"))],
        rows,
    )


def _dropped(n: int, before: int) -> Cell:
    return Cell(thousands(n), interval=f"({two_digits(n / before)})" if n and before else "")


def _coefficients(protocol: Protocol) -> Table:
    names = list(next(iter(protocol.coefficients.values())))
    rows: list[Row] = [
        [dbms, *(f"{value:.4g}" for value in values.values())]
        for dbms, values in protocol.coefficients.items()
    ]
    return Table(
        f"{_name(protocol)}: the regression of I/O wait, by DBMS",
        [Column("DBMS", Kind.NAME), *map(Column, names)],
        rows,
    )


# Checks ----------------------------------------------------------------------------------
def _all_checks(primary: Protocol, others: Sequence[Protocol]) -> Iterator[Block]:
    yield from _checks(primary)
    for one in others:
        blocks = list(_checks(one))
        if blocks:
            yield Detail(f"The checks of {one.label}", blocks)


def _checks(protocol: Protocol) -> Iterator[Block]:
    for level, title, unit in _LEVELS:
        checks = [one for one in protocol.checks if one.level == level]
        if checks:
            yield _level(protocol, checks, title, unit)
    if protocol.rules:
        yield _rules(protocol)
    if protocol.post:
        yield _post(protocol)


def _level(protocol: Protocol, checks: Sequence[Check], title: str, unit: str) -> Table:
    rows: list[Row] = []
    for one in checks:
        tone = Tone.STRONG if one.violations else Tone.PLAIN
        accepted = "accepted as a deviation" if one.name in protocol.accepted else ""
        rows.append(
            [
                Cell(f"{one.number} {one.name}", tone=tone),
                one.source,
                Cell(thousands(one.violations) if one.judged or one.violations else NOTHING, tone=tone),
                thousands(one.judged),
                _share(one.share),
                Cell(_of_unit(one.paper, unit), tone=Tone.QUIET),
                "; ".join(part for part in (one.unjudged, accepted) if part),
            ]
        )
    return Table(
        f"{_name(protocol)}: {title}",
        [
            Column("check", Kind.NAME),
            Column("source", Kind.NAME),
            *map(Column, ("violations", "judged", "share", "paper")),
            Column("not judged, because", Kind.PROSE),
        ],
        rows,
    )


def _rules(protocol: Protocol) -> Table:
    rows: list[Row] = [
        [
            one.step,
            one.rule,
            one.source,
            "QEs" if one.level == "qe" else "Q@Cs",
            thousands(one.dropped),
            one.example,
        ]
        for one in protocol.rules
    ]
    return Table(
        f"{_name(protocol)}: rules that dropped something. A QE that broke several is counted under each",
        [
            *(Column(heading, Kind.NAME) for heading in ("step", "rule", "source", "of")),
            Column("dropped"),
            Column("for example", Kind.PROSE),
        ],
        rows,
        grouped=True,
    )


def _post(protocol: Protocol) -> Table:
    rows: list[Row] = [
        [
            f"{one.number} {one.name}",
            one.source,
            _of_unit(one.value, one.unit),
            Cell(_of_unit(one.paper, one.unit), tone=Tone.QUIET),
            one.reason or ", ".join(one.detail),
        ]
        for one in protocol.post
    ]
    return Table(
        f"{_name(protocol)}: post-sanity checks (the shape of TTPv2 Table XIV)",
        [
            Column("check", Kind.NAME),
            Column("source", Kind.NAME),
            *map(Column, ("here", "paper")),
            Column("what to know", Kind.PROSE),
        ],
        rows,
    )


# Times -----------------------------------------------------------------------------------
def _times(built: Built, primary: Protocol, others: Sequence[Protocol]) -> Iterator[Block]:
    yield section_charts(built, "times")
    times = built.report.times
    if not times:
        yield Paragraph("No Q@C was timed.", Tone.QUIET)
        return
    names = {name: short(name) for name in {one.query for one in times}}
    rows: list[Row] = [_time_row(one, names[one.query], primary, others) for one in times]
    columns = [
        Column("query", Kind.NAME),
        Column("DBMS", Kind.NAME),
        Column("cardinality"),
        Column(f"{primary.label} [95%]"),
        *map(Column, ("sd", "QEs", "measured")),
        *(Column(one.label) for one in others),
        Column("remark", Kind.PROSE),
    ]
    table = Table(
        "Times in ms: medians with 95% intervals, standard deviation, retained QEs, mean of the measured (wall) "
        "times",
        columns,
        rows,
        grows=True,
    )
    yield Detail(f"Times of {thousands(len(times))} Q@Cs", [table], opened=len(times) <= _OPENED)


def _time_row(qatc: QatC, name: str, primary: Protocol, others: Sequence[Protocol]) -> Row:
    timed = qatc.times.get(primary.protocol)
    sd = timed.sd_ms if timed and timed.time_ms is not None else None
    return [
        name,
        qatc.dbms,
        thousands(qatc.cardinality),
        _time(timed),
        "" if sd is None else significant(sd, 2),
        str(timed.qes) if timed else "",
        NOTHING if qatc.measured_ms is None else significant(qatc.measured_ms, 4),
        *(Cell(_time(qatc.times.get(one.protocol)).value, tone=Tone.QUIET) for one in others),
        _remark(timed),
    ]


def _time(timed: Timed | None) -> Cell:
    """A time with its interval, in ms."""
    if timed is None:
        return Cell(NOTHING)
    figure = Figure(timed.time_ms, timed.low_ms, timed.high_ms, unit="ms", spread=timed.sd_ms)
    return figure.cell(_MS, bare=True)


def _remark(timed: Timed | None) -> str:
    if timed is None:
        return ""
    if timed.rule:
        return f"dropped: {timed.rule}"
    if timed.relaxed:
        return "slower than at more rows, beyond the spread"
    return "slower than at more rows" if timed.strict else ""


# Models ----------------------------------------------------------------------------------
def _models(built: Built) -> Iterator[Block]:
    models = built.report.models
    if not models:
        yield Paragraph("No model was checked against these runs.", Tone.QUIET)
    yield section_charts(built, "models")
    for model in models:
        yield _verdicts(model)
        yield Detail(f"{_capital(model.title)}: every correlation, by group", [_correlations(model)])


def _verdicts(model: Model) -> Table:
    scopes = [("all, each scaled by itself", None), *((dbms, dbms) for dbms in model.dbmses)]
    rows: list[Row] = [
        [
            name,
            *(
                str(sum(one.verdict == verdict and one.dbms == dbms for one in model.observed))
                for verdict in model.verdicts
            ),
        ]
        for name, dbms in scopes
    ]
    return Table(
        f"{_capital(model.title)}: verdicts over {thousands(model.qes)} QEs",
        [Column("QEs of", Kind.NAME), *map(Column, model.verdicts)],
        rows,
    )


def _correlations(model: Model) -> Table:
    rows: list[Row] = [_correlation(one) for one in model.observed if one.dbms is None]
    return Table(
        f"Pearson's r over all DBMSes, each scaled by itself (as in TTPv2 Table VI). {model.citation}",
        [
            Column("group", Kind.NAME),
            Column("letter", Kind.NAME),
            Column("correlation", Kind.PROSE),
            Column("predicted", Kind.NAME),
            Column("r"),
            Column("verdict", Kind.NAME),
            Column("r, paper"),
            Column("why", Kind.PROSE),
        ],
        rows,
        grouped=True,
    )


def _correlation(one: Correlation) -> Row:
    return [
        one.group,
        one.name.removeprefix(one.group),
        f"{one.cause} → {one.effect}",
        one.predicted,
        NOTHING if one.r is None else fixed(one.r, 2),
        Cell(one.verdict, tone=_TONES.get(one.verdict, Tone.PLAIN)),
        Cell("" if one.published is None else fixed(one.published, 2), tone=Tone.QUIET),
        one.reason or "",
    ]
