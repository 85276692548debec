"""Tables of the report: those of 1983 over today's times, every query, gains by indexes, growth with size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.kit.blocks import Block, Cell, Column, Detail, Heading, Kind, Row, Table, Tone
from tare.report.numbers import fixed, thousands
from tare.report.wisconsin.document import (
    Answers,
    PaperTable,
    Query,
    Question,
    Slope,
    SpeedUp,
    WisconsinReport,
)
from tare.report.wisconsin.sheet import Sheet
from tare.report.wisconsin.words import factor, operation, power
from tare.report.wisconsin.words import organisation as organisation_name
from tare.report.words import NOTHING
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.published import GIVEN_UP

ROWS_1983 = 10_000
_BRIEF = 10  # answers that a terminal shows


def questions_table(questions: Sequence[Question]) -> Table:
    rows: list[Row | str] = []
    for question in questions:
        rows.append(f"{question.question} ({question.source})")
        rows += [
            [answer.system, Cell(answer.verdict, tone=Tone.STRONG), answer.short]
            for answer in question.answers
        ]
    return Table(
        "Answers from each system's own plans and times",
        [Column("system", Kind.NAME), Column("answer", Kind.NAME), Column("grounds", Kind.PROSE)],
        rows,
    )


# The paper's tables ----------------------------------------------------------------------
def paper_blocks(sheet: Sheet, table: PaperTable) -> Iterator[Block]:
    """A table of 1983 with today's times below, then the access paths of today's systems."""
    systems = _systems_of(sheet, table)
    year = Generation.Y1983.value
    queries = [column.query for column in table.columns]
    rows: list[Row | str] = ["1983: elapsed time, means of ten queries; no spread is printed"]
    rows += [[system, *map(_published, printed)] for system, printed in table.published_s.items()]
    if systems:
        rows.append("today: elapsed and exact time, medians")
    for system in systems:
        for name, of in (("elapsed", sheet.elapsed), ("exact", sheet.exact)):
            cells = [
                of(system, year, query, ROWS_1983, "ms") if query else Cell(NOTHING) for query in queries
            ]
            rows.append([f"{system}, {name}", *cells])
    yield Heading(f"Table {table.number}. {table.title}; {table.note}")
    yield Table(
        f"Table {table.number}: the systems of 1983 and of today",
        [Column("system", Kind.NAME), *(Column(one.heading, group=one.group) for one in table.columns)],
        rows,
    )
    if systems:
        yield Table(
            f"Table {table.number}: access paths of today's systems, by their plans",
            [
                Column("system", Kind.NAME),
                *(Column(one.heading, Kind.PROSE, one.group) for one in table.columns),
            ],
            [
                [
                    system,
                    *(
                        sheet.access(system, year, query, ROWS_1983) if query else NOTHING
                        for query in queries
                    ),
                ]
                for system in systems
            ],
        )


def _published(printed: str) -> Cell:
    return Cell(printed, "" if printed == GIVEN_UP else "s")


def _systems_of(sheet: Sheet, table: PaperTable) -> list[str]:
    """Labels of today's systems that ran a query of the table, or could not."""
    queries = [column.query for column in table.columns if column.query]
    return [
        one.label
        for one in sheet.report.systems
        if any(
            sheet.time(one.label, Generation.Y1983.value, query, ROWS_1983)
            or sheet.why(one.label, query, ROWS_1983)
            for query in queries
        )
    ]


# Every query -----------------------------------------------------------------------------
def query_blocks(sheet: Sheet) -> Iterator[Block]:
    """For each generation and size, the times of its queries by system, and the access paths."""
    for generation in Generation:
        sizes = sheet.sizes(generation)
        queries = sheet.queries(generation)
        for size in sizes:
            text = fixed(size, 0)
            systems = sheet.systems(generation, size)
            yield Detail(
                f"{generation}, {text} tuples: {len(queries)} queries",
                [
                    _times(sheet, generation, size, systems),
                    Detail(f"{generation}, {text} tuples: access paths", [
                        _paths(sheet, generation, size, systems),
                    ]),
                ],
                opened=size == sizes[-1] and generation is Generation.Y1993,
            )  # fmt: skip


def _times(sheet: Sheet, generation: Generation, size: int, systems: Sequence[str]) -> Table:
    rows: list[Row] = [
        [
            query.name,
            f"{_organisation(query.organisation)}: {query.title}",
            *(
                of(system, generation.value, query.name, size)
                for system in systems
                for of in (sheet.elapsed, sheet.exact)
            ),
        ]
        for query in sheet.queries(generation)
    ]
    return Table(
        f"Queries of {generation} where the large relations have {fixed(size, 0)} tuples: medians with 95% intervals",
        [
            Column("query", Kind.NAME),
            Column("operation", Kind.PROSE),
            *(
                Column(heading, group=system)
                for system in systems
                for heading in ("elapsed, ms", "exact, ms")
            ),
        ],
        rows,
        grows=True,
    )


def _paths(sheet: Sheet, generation: Generation, size: int, systems: Sequence[str]) -> Table:
    rows: list[Row] = [
        [
            query.name,
            _organisation(query.organisation),
            *(sheet.access(system, generation.value, query.name, size) for system in systems),
        ]
        for query in sheet.queries(generation)
    ]
    return Table(
        f"Access paths of the queries of {generation} at {fixed(size, 0)} tuples, by each system's plans",
        [
            Column("query", Kind.NAME),
            Column("organisation", Kind.PROSE),
            *(Column(system, Kind.PROSE) for system in systems),
        ],
        rows,
        grows=True,
    )


def _organisation(name: str) -> str:
    return organisation_name(Organisation(name))


# Indexes and sizes -------------------------------------------------------------------------
def speed_up_blocks(report: WisconsinReport) -> Iterator[Block]:
    """For each generation and size, a row for each operation and organisation and a column for each system."""
    parts: dict[tuple[str, int], dict[tuple[str, str], dict[str, SpeedUp]]] = {}
    for one in report.speed_ups:
        rows = parts.setdefault((one.generation, one.size), {})
        rows.setdefault((one.operation, one.organisation), {})[one.system] = one
    for (generation, size), rows in sorted(parts.items()):
        largest = max(other for name, other in parts if name == generation)
        text = fixed(size, 0)
        yield Detail(
            f"{generation}, {text} tuples",
            [
                Table(
                    f"Heap over index, {generation} at {text} tuples",
                    [
                        Column("operation", Kind.NAME),
                        Column("by", Kind.NAME),
                        *(Column(system.label) for system in report.systems),
                    ],
                    [
                        [
                            operation(name),
                            _organisation(organisation),
                            *(_speed_up(of.get(system.label)) for system in report.systems),
                        ]
                        for (name, organisation), of in rows.items()
                    ],
                    grows=True,
                )
            ],
            opened=size == largest,
        )


def _speed_up(one: SpeedUp | None) -> Cell:
    if one is None:
        return Cell(NOTHING)
    value, _, interval = factor(one.ratio).partition(" ")
    tone = Tone.PLAIN
    if one.ratio.established:
        tone = Tone.STRONG if one.ratio.estimate > 1 else Tone.BAD
    return Cell(value, interval=interval, note=f"n {one.ratio.n[0]} + {one.ratio.n[1]}", tone=tone)


def slopes_table(report: WisconsinReport) -> Table:
    queries: dict[tuple[str, str], Query] = {(one.generation, one.name): one for one in report.queries}
    slopes: dict[tuple[str, str], dict[str, Slope]] = {}
    for one in report.slopes:
        slopes.setdefault((one.generation, one.query), {})[one.system] = one
    systems = [one for one in report.systems if any(s.system == one.label for s in report.slopes)]
    rows: list[Row] = [
        [
            key[1],
            queries[key].title,
            _organisation(queries[key].organisation),
            *(_slope(of.get(system.label)) for system in systems),
        ]
        for key, of in slopes.items()
    ]
    return Table(
        "Elapsed time grows as size to this power: a line through the logarithms of the medians, with the 95% "
        "interval that resampling the QEs gives. 1 is linear, 2 quadratic",
        [
            Column("query", Kind.NAME),
            Column("operation", Kind.PROSE),
            Column("organisation", Kind.NAME),
            *(Column(one.label) for one in systems),
        ],
        rows,
        grows=True,
    )


def _slope(one: Slope | None) -> Cell:
    if one is None:
        return Cell(NOTHING)
    value, _, interval = power(one).partition(" ")
    return Cell(value, interval=interval, note=f"n {one.n}; {one.name}")


# Answers -----------------------------------------------------------------------------------
def differing_table(answers: Answers) -> Table:
    rows: list[Row] = [
        [
            one.query,
            thousands(one.size),
            str(one.variant),
            "; ".join(f"{system}: {answer}" for system, answer in one.answers.items())
            + ("" if one.same_statements else ". The runs' statements differ"),
        ]
        for one in answers.differing
    ]
    return Table(
        "Answers that differ",
        [
            Column("query", Kind.NAME),
            Column("tuples"),
            Column("variant"),
            Column("rows and hash, by system", Kind.PROSE),
        ],
        rows,
        grows=True,
        brief=_BRIEF,
    )
