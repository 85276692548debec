"""The story of the Wisconsin benchmark: whether answers agree, the paper's questions, then every time and its cause."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.conditions.blocks import conditions_blocks, missing_blocks, reproduce_blocks
from tare.report.kit.blocks import (
    Block,
    Detail,
    Heading,
    Item,
    Items,
    Paragraph,
    Section,
    Story,
    Tone,
    Verdict,
    section_charts,
)
from tare.report.numbers import thousands
from tare.report.wisconsin.build import ALWAYS_ACCEPTED, Built
from tare.report.wisconsin.document import Question, WisconsinReport
from tare.report.wisconsin.sheet import Sheet
from tare.report.wisconsin.tables import (
    differing_table,
    paper_blocks,
    query_blocks,
    questions_table,
    slopes_table,
    speed_up_blocks,
)
from tare.report.words import counted, joined
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import CITATION, MACHINES

READING = (
    "Elapsed is the time that the client waited, the median of the QEs. Exact is CPU and disk time of the query's "
    "processes by Tare's exact protocol, which leaves out waiting for a processor and the work of other programs. In "
    "brackets: the distribution-free 95% interval of the median; n counts QEs."
)
EVIDENCE = (
    "“Takes 1.3 [1.2, 1.4] times the time” is the Hodges–Lehmann ratio of elapsed times with its 95% interval. A "
    "difference counts as established where the 99% interval leaves out 1."
)
GAIN = (
    "The heap's elapsed time over that with the index: above 1 the index helps, below 1 it harms. In brackets: the 95% "
    "interval (Hodges–Lehmann); n: QEs with the index + on the heap. Bold where the 99% interval leaves out 1."
)


def story(built: Built) -> Story:
    report = built.report
    systems = ", ".join(one.label for one in report.systems)
    return Story(
        title=report.title,
        under=f"{len(report.runs)} run{'' if len(report.runs) == 1 else 's'} on {systems} · first begun "
        f"{report.runs[0].started_at[:10]} · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _blocks(built: Built) -> Iterator[Block]:
    report = built.report
    sheet = Sheet(report)
    yield _verdict(report)
    for sentence in report.headline[2:]:
        yield Paragraph(sentence)
    yield Paragraph(f"{READING} {_retained(report)}", Tone.QUIET)
    yield Section(
        "questions", "The paper's questions, put to each system", [questions_table(report.questions)]
    )
    yield Section("evidence", "Evidence for the answers", [
        Paragraph(EVIDENCE, Tone.QUIET), *map(_evidence, report.questions),
    ], printed=False)  # fmt: skip
    if sheet.sizes(Generation.Y1983):
        yield Section("paper", "The eleven tables of 1983, and today's systems beside them", [
            section_charts(built, "paper"),
            Paragraph(_machines(), Tone.QUIET),
            *(block for table in report.tables for block in paper_blocks(sheet, table)),
        ], printed=False)  # fmt: skip
    queries = list(query_blocks(sheet)) or [Paragraph("Nothing was timed.", Tone.QUIET)]
    yield Section("queries", "Every query", queries, printed=False)
    yield Section("classes", "Class by class", [section_charts(built, "classes")], printed=False)
    yield Section("indexes", "What an index gives", list(_indexes(report)), printed=False)
    yield Section("sizes", "Cost over size", list(_sizes(built)), printed=False)
    differ = bool(report.answers.differing)
    yield Section("answers", "Answers", list(_answers(report)), printed=differ)
    yield Section("missing", "Missing queries and failed Q@Cs", missing_blocks(report), printed=False)
    conditions = conditions_blocks(report, report.exact.deviations)
    yield Section("conditions", "Conditions", conditions, printed=False)
    yield Section("reproduce", "How to do it again", reproduce_blocks(report), printed=False)


# The answer ------------------------------------------------------------------------------
def _verdict(report: WisconsinReport) -> Verdict:
    reasons = list(_reasons(report))
    answers = report.answers
    agree = answers.compared > 0 and answers.equal == answers.compared
    tone = Tone.GOOD if agree and not reasons else Tone.CAUTION
    return Verdict("", " ".join(report.headline[:2]), tone if report.times else Tone.BAD, reasons)


def _reasons(report: WisconsinReport) -> Iterator[str]:
    """Reasons against relying on the times. The headline reports whether answers agree."""
    yield from (f"Not finished: {one}." for one in report.unfinished)
    if report.exact.stopped:
        yield f"The exact protocol was stopped: {report.exact.stopped}."
    accepted = [one for one in report.exact.accepted if one not in ALWAYS_ACCEPTED]
    if accepted:
        yield f"Violated checks were accepted as deviations: {joined(accepted)}."
    if report.missing:
        missing = counted(len(report.missing), "query or Q@C has", "queries or Q@Cs have")
        yield f"{missing[:1].upper()}{missing[1:]} no time; the written report lists each with the reason."
    timeouts = sum(bool(one.timeouts) for one in report.times)
    if timeouts:
        timed_out = counted(timeouts, "Q@C has", "Q@Cs have")
        yield f"{timed_out[:1].upper()}{timed_out[1:]} QEs that timed out."


def _retained(report: WisconsinReport) -> str:
    exact = report.exact
    if exact.stopped:
        return f"The exact protocol was stopped: {exact.stopped}."
    return (
        f"The exact protocol retained {thousands(exact.qes_retained)} of {thousands(exact.qes_at_start)} QEs and "
        f"{thousands(exact.qatcs_retained)} of {thousands(exact.qatcs_at_start)} Q@Cs."
    )


def _evidence(question: Question) -> Detail:
    blocks: list[Block] = []
    for answer in question.answers:
        if answer.evidence:
            blocks.append(Heading(f"{answer.system}: {answer.verdict}"))
            blocks.append(Items([Item(sentence) for sentence in answer.evidence]))
    return Detail(question.question, blocks or [Paragraph("No measurement bears on it.", Tone.QUIET)])


# Sections --------------------------------------------------------------------------------
def _machines() -> str:
    machines = "; ".join(f"{name}: {machine}" for name, machine in MACHINES.items())
    return (
        f"{CITATION}. {machines}. Seconds then, milliseconds now: the machines are forty years apart, and only the "
        "pattern within a system invites comparison."
    )


def _indexes(report: WisconsinReport) -> Iterator[Block]:
    parts = list(speed_up_blocks(report))
    if parts:
        yield Paragraph(GAIN, Tone.QUIET)
        yield from parts
    else:
        yield Paragraph("No operation was measured both with an index and on the heap.", Tone.QUIET)


def _sizes(built: Built) -> Iterator[Block]:
    if built.report.slopes:
        yield section_charts(built, "sizes")
        yield slopes_table(built.report)
    else:
        yield Paragraph(
            "One size was run. Give runs at two sizes or more, and the power that cost grows with is fitted for each "
            "query.",
            Tone.QUIET,
        )


def _answers(report: WisconsinReport) -> Iterator[Block]:
    answers = report.answers
    if answers.compared:
        alone = f"; {thousands(answers.alone)} more variants ran on one system only" if answers.alone else ""
        text = (
            f"{thousands(answers.equal)} of {thousands(answers.compared)} variants of {thousands(answers.queries)} "
            "queries gave the same rows on every system that ran them, in whatever order (number of rows and hash of "
            f"them){alone}."
        )
    else:
        text = "No two systems ran the same query."
    yield Paragraph(f"{text} Each answer was also checked against its definition when it ran.")
    if answers.differing:
        yield differing_table(answers)
