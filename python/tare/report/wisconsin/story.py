"""The story of the Wisconsin benchmark: what ran, whether answers agree, the paper's questions and tables, times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.report.conditions import story as conditions
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Detail,
    Facts,
    Heading,
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
from tare.report.numbers import Scale, thousands
from tare.report.wisconsin.build import ALWAYS_ACCEPTED, Built
from tare.report.wisconsin.document import PaperTable, Query, Slope, SpeedUp, Time, Timed, WisconsinReport
from tare.report.wisconsin.labels import operation
from tare.report.wisconsin.labels import organisation as organisation_name
from tare.report.wisconsin.words import power_figure, ratio_figure, time_figure
from tare.report.words import NOTHING
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.published import CITATION, GIVEN_UP, MACHINES

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

MS = Scale("ms", 1.0)
ROWS_1983 = 10_000
MOST_WHY = 90  # characters of a reason in a cell; the table of what is missing has all of it


def story(built: Built) -> Story:
    report = built.report
    return Story(
        title=report.title,
        under=f"{conditions.under(report)} · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _blocks(built: Built) -> Iterator[Block]:
    report = built.report
    yield _answer(report)
    yield from map(Paragraph, report.headline[2:])
    yield Paragraph(_meaning(report), Tone.QUIET)
    yield Section("questions", "The paper's questions, put to each system", list(_questions(report)))
    sheet = _Sheet(report)
    if _sizes(report, Generation.Y1983):
        title = "The eleven tables of 1983, and today's systems beside them"
        yield Section("paper", title, list(_paper(built, sheet)), printed=False)
    yield Section("queries", "Every query", list(_every_query(report, sheet)), printed=False)
    yield Section("classes", "Class by class", [_charts(built, "classes")], printed=False)
    yield Section("indexes", "What an index gives", list(_speed_ups(report)), printed=False)
    yield Section("sizes", "Cost over size", list(_slopes(built)), printed=False)
    differing = bool(report.answers.differing)
    yield Section("answers", "Answers", list(_answers(report)), printed=differing)
    yield from conditions.sections(report, report.exact.deviations)


def _charts(built: Built, section: str) -> Charts:
    return Charts(partial(_of_section, built, section))


def _of_section(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]


# Findings --------------------------------------------------------------------------------
def _answer(report: WisconsinReport) -> Verdict:
    """GOOD only if no answer differs, every run came to its end, and no check had to be accepted."""
    exact = report.exact
    reasons = list(report.unfinished)
    if exact.stopped:
        reasons.append(f"the exact protocol gives no times: {exact.stopped}")
    reasons += [f"accepted although violated: {one}" for one in exact.accepted if one not in ALWAYS_ACCEPTED]
    timeouts = sum(bool(one.timeouts) for one in report.times)
    if timeouts:
        reasons.append(
            f"{thousands(timeouts)} of {thousands(len(report.times))} Q@Cs ran into their time-out"
        )
    tone = Tone.CAUTION if reasons or not report.times else Tone.GOOD
    return Verdict("", " ".join(report.headline[:2]), Tone.BAD if report.answers.differing else tone, reasons)


def _meaning(report: WisconsinReport) -> str:
    exact = report.exact
    retained = (
        f"It was stopped: {exact.stopped}."
        if exact.stopped
        else f"It retained {thousands(exact.qes_retained)} of {thousands(exact.qes_at_start)} QEs and "
        f"{thousands(exact.qatcs_retained)} of {thousands(exact.qatcs_at_start)} Q@Cs."
    )
    return (
        "Elapsed: the time that the client waited, median of the QEs. Exact: CPU and disk time of the query processes "
        "by Tare's exact protocol, which leaves out waiting for a processor and everybody else's work. "
        f"{retained} In brackets: the distribution-free 95% interval of the median; n: number of QEs."
    )


def _questions(report: WisconsinReport) -> Iterator[Block]:
    for one in report.questions:
        answers = [(answer.system, f"{answer.verdict}: {answer.short}") for answer in one.answers]
        yield Facts(f"{one.question} ({one.source})", answers)
        evidence: list[Block] = []
        for answer in one.answers:
            if answer.evidence:
                evidence += [
                    Heading(f"{answer.system}: {answer.verdict}"),
                    Items([*map(Item, answer.evidence)]),
                ]
        if evidence:
            yield Detail(f"Evidence: {one.question[:1].lower()}{one.question[1:]}", evidence)
    yield Paragraph(
        "In evidence, “takes 1.3 [1.2, 1.4] times the time”: Hodges–Lehmann ratio of elapsed times with its 95% "
        "interval; a difference counts as established where the 99% interval leaves out 1.", Tone.QUIET,
    )  # fmt: skip


# Times -----------------------------------------------------------------------------------
class _Sheet:
    """The cells of tables of times."""

    def __init__(self, report: WisconsinReport):
        self._report = report
        self._times = {(one.system, one.generation, one.query, one.size): one for one in report.times}
        self._whys = {(one.run, one.query, one.cardinality): one.why for one in report.missing}

    def timed(self, system: str, generation: str, query: str | None, size: int) -> Timed | None:
        return self._times.get((system, generation, query, size)) if query else None

    def why(self, system: str, query: str | None, size: int) -> str:
        """Why it has no time; empty where its run did not request it."""
        runs = next(one.runs for one in self._report.systems if one.label == system)
        for run in runs if query else ():
            found = self._whys.get((run, str(query), None)) or self._whys.get((run, str(query), size))
            if found:
                return found if len(found) <= MOST_WHY else f"{found[: MOST_WHY - 1]}…"
        return ""

    def elapsed(self, system: str, generation: str, query: str | None, size: int) -> Cell:
        timed = self.timed(system, generation, query, size)
        if timed is None:
            return Cell(NOTHING, note=self.why(system, query, size))
        late = f"{timed.timeouts} of {timed.elapsed.n} timed out" if timed.timeouts else ""
        return _time(timed.elapsed, late)

    def exact(self, system: str, generation: str, query: str | None, size: int) -> Cell:
        timed = self.timed(system, generation, query, size)
        if timed is None or timed.exact is None:
            why = timed.exact_why if timed and not self._report.exact.stopped else None
            return Cell(NOTHING, note=why or "")
        return _time(timed.exact)

    def access(self, system: str, generation: str, query: str | None, size: int) -> str:
        timed = self.timed(system, generation, query, size)
        return (timed.access if timed else "") or NOTHING


def _time(time: Time, note: str = "") -> Cell:
    shown = time_figure(time).cell(MS, bare=True)
    return Cell(shown.value, interval=shown.interval, note=f"n {time.n}{'; ' if note else ''}{note}")


def _sizes(report: WisconsinReport, generation: Generation) -> list[int]:
    return sorted({one.size for one in report.times if one.generation == generation.value})


def _paper(built: Built, sheet: _Sheet) -> Iterator[Block]:
    yield _charts(built, "paper")
    machines = "; ".join(f"{name}: {machine}" for name, machine in MACHINES.items())
    yield Paragraph(
        f"{CITATION}. {machines}. Seconds there, milliseconds here: the machines are forty years apart, and only the "
        "pattern within a system invites comparison.", Tone.QUIET,
    )  # fmt: skip
    report, year = built.report, Generation.Y1983.value
    for table in report.tables:
        systems = [
            system.label
            for system in report.systems
            if any(
                sheet.timed(system.label, year, one.query, ROWS_1983) or sheet.why(system.label, one.query, ROWS_1983)
                for one in table.columns
            )
        ]  # fmt: skip
        yield _paper_table(sheet, table, systems)
        if systems:
            yield Detail(f"Table {table.number}: access paths of today's systems", [
                Table(
                    "By their plans",
                    [Column("column", Kind.NAME), *(Column(one, Kind.PROSE) for one in systems)],
                    [
                        [
                            f"{one.group}: {one.heading}" if one.group else one.heading,
                            *(sheet.access(system, year, one.query, ROWS_1983) for system in systems),
                        ]
                        for one in table.columns
                    ],
                )
            ])  # fmt: skip


def _paper_table(sheet: _Sheet, table: PaperTable, systems: Sequence[str]) -> Table:
    year = Generation.Y1983.value
    rows: list[Row | str] = ["1983: elapsed time, mean of ten queries; no spread is printed"]
    for system, printed in table.published_s.items():
        rows.append([system, *(Cell(one, "" if one == GIVEN_UP else "s") for one in printed)])
    for heading, cell in (
        ("today: elapsed time, ms", sheet.elapsed),
        ("today: exact time, ms", sheet.exact),
    ):
        rows += [heading] if systems else []
        rows += [
            [one, *(cell(one, year, column.query, ROWS_1983) for column in table.columns)] for one in systems
        ]
    return Table(
        f"Table {table.number}. {table.title}; {table.note}",
        [Column("system", Kind.NAME), *(Column(one.heading, group=one.group) for one in table.columns)],
        rows,
    )


def _every_query(report: WisconsinReport, sheet: _Sheet) -> Iterator[Block]:
    if not report.times:
        yield Paragraph("Nothing was timed.", Tone.QUIET)
    for generation in Generation:
        sizes = _sizes(report, generation)
        queries = [one for one in report.queries if one.generation == generation.value]
        for size in sizes:
            timed = {one.system for one in report.times if (one.generation, one.size) == (generation, size)}
            systems = [one.label for one in report.systems if one.label in timed]
            summary = f"{generation}, {thousands(size)} tuples"
            is_last = size == sizes[-1]
            yield Detail(
                f"{summary}: {len(queries)} queries",
                [_times(sheet, queries, systems, size)],
                opened=is_last and generation is Generation.Y1993,
                spare=not is_last,
            )
            if is_last:
                yield Detail(f"{summary}: access paths", [_paths(sheet, queries, systems, size)])


def _times(sheet: _Sheet, queries: Sequence[Query], systems: Sequence[str], size: int) -> Table:
    return Table(
        f"Queries where the large relations have {thousands(size)} tuples: ms, medians with 95% intervals",
        [
            Column("query", Kind.NAME),
            *(Column(heading, group=one) for one in systems for heading in ("elapsed", "exact")),
        ],
        [
            [
                Cell(one.name, note=f"{_organisation(one.organisation)}: {one.title}"),
                *(
                    cell(system, one.generation, one.name, size)
                    for system in systems
                    for cell in (sheet.elapsed, sheet.exact)
                ),
            ]
            for one in queries
        ],
    )


def _paths(sheet: _Sheet, queries: Sequence[Query], systems: Sequence[str], size: int) -> Table:
    return Table(
        "How each system reaches its rows, by its plan",
        [Column("query", Kind.NAME), *(Column(one, Kind.PROSE) for one in ("organisation", *systems))],
        [
            [
                one.name,
                _organisation(one.organisation),
                *(sheet.access(system, one.generation, one.name, size) for system in systems),
            ]
            for one in queries
        ],
    )


def _organisation(name: str) -> str:
    return organisation_name(Organisation(name))


# Indexes and sizes ----------------------------------------------------------------------------
def _speed_ups(report: WisconsinReport) -> Iterator[Block]:
    if not report.speed_ups:
        yield Paragraph("No operation was measured both with an index and on the heap.", Tone.QUIET)
        return
    yield Paragraph(
        "The heap's elapsed time over that with the index: above 1 the index helps, below 1 it harms. In brackets: the "
        "95% interval (Hodges–Lehmann); n: QEs with the index + on the heap. Bold: the 99% interval leaves out 1.",
        Tone.QUIET,
    )
    parts: dict[tuple[str, int], dict[tuple[str, str], dict[str, SpeedUp]]] = {}
    for one in report.speed_ups:
        rows = parts.setdefault((one.generation, one.size), {})
        rows.setdefault((one.operation, one.organisation), {})[one.system] = one
    labels = [one.label for one in report.systems]
    for (generation, size), rows in sorted(parts.items()):
        is_largest = size == max(other for year, other in parts if year == generation)
        yield Detail(f"{generation}, {thousands(size)} tuples", [
            Table(
                f"Heap over index, {generation} at {thousands(size)} tuples",
                [Column("operation", Kind.NAME), Column("by", Kind.NAME), *map(Column, labels)],
                [
                    [operation(name), _organisation(kind), *(_speed_up(found.get(label)) for label in labels)]
                    for (name, kind), found in rows.items()
                ],
            )
        ], opened=is_largest, spare=not is_largest)  # fmt: skip


def _speed_up(one: SpeedUp | None) -> Cell:
    if one is None:
        return Cell(NOTHING)
    shown = ratio_figure(one.ratio).cell()
    tone = Tone.PLAIN
    if one.ratio.established:
        tone = Tone.STRONG if one.ratio.estimate > 1 else Tone.BAD
    return Cell(
        shown.value, interval=shown.interval, note=f"n {one.ratio.n[0]} + {one.ratio.n[1]}", tone=tone
    )


def _slopes(built: Built) -> Iterator[Block]:
    report = built.report
    if not report.slopes:
        yield Paragraph(
            "One size was run. Give runs at two sizes or more, and the power that cost grows with is fitted for each "
            "query.", Tone.QUIET,
        )  # fmt: skip
        return
    yield _charts(built, "sizes")
    queries = {(one.generation, one.name): one for one in report.queries}
    found: dict[tuple[str, str], dict[str, Slope]] = {}
    for one in report.slopes:
        found.setdefault((one.generation, one.query), {})[one.system] = one
    systems = [one.label for one in report.systems if any(s.system == one.label for s in report.slopes)]
    rows: list[Row] = []
    for key, slopes in found.items():
        query = queries[key]
        rows.append([
            Cell(query.name, note=query.title),
            _organisation(query.organisation),
            *(_slope(slopes.get(label)) for label in systems),
        ])  # fmt: skip
    yield Table(
        "Elapsed time grows as size to this power: a line through the logarithms of the medians, with the 95% interval "
        "by resampling the QEs. 1 is linear, 2 quadratic",
        [Column("query", Kind.NAME), Column("organisation", Kind.NAME), *map(Column, systems)],
        rows,
    )


def _slope(one: Slope | None) -> Cell:
    if one is None:
        return Cell(NOTHING)
    shown = power_figure(one).cell()
    return Cell(shown.value, interval=shown.interval, note=f"{one.name}, n {one.n}")


def _answers(report: WisconsinReport) -> Iterator[Block]:
    found = report.answers
    if found.compared:
        text = (
            f"{thousands(found.equal)} of {thousands(found.compared)} variants of {thousands(found.queries)} queries "
            "gave the same rows on every system that ran them, in whatever order (number of rows and hash of them)"
        )
        alone = f"; {thousands(found.alone)} more variants ran on one system only" if found.alone else ""
    else:
        text, alone = "No two systems ran the same query", ""
    yield Paragraph(f"{text}{alone}. Each answer was also checked against its definition when it ran.")
    if found.differing:
        yield Table(
            "Answers that differ",
            [
                Column("query", Kind.NAME),
                Column("tuples"),
                Column("variant"),
                Column("rows and hash, by system", Kind.PROSE),
            ],
            [
                [
                    one.query,
                    thousands(one.size),
                    str(one.variant),
                    "; ".join(f"{system}: {answer}" for system, answer in one.answers.items())
                    + ("" if one.same_statements else ". The runs' statements differ"),
                ]
                for one in found.differing
            ],
            grows=True,
        )
