"""The benchmark's report of some runs: any number of DBMSes, both generations, any sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tare.lab.frames import Frames, open_frames
from tare.lab.ids import experiment_id
from tare.lab.states import QatCState, RunState
from tare.protocol.experiment_checks import MISSING_QUERIES
from tare.protocol.outcome import Outcome
from tare.report.conditions import gathered
from tare.report.conditions.document import Missing
from tare.report.conditions.facts import Facts, facts_of
from tare.report.origin import written_at, written_by
from tare.report.safe import lab_name
from tare.report.wisconsin.answers import answers
from tare.report.wisconsin.document import Column, Left, PaperTable, Query, WisconsinReport
from tare.report.wisconsin.headline import headline
from tare.report.wisconsin.measured import Measurements, measurements
from tare.report.wisconsin.questions import questions
from tare.report.wisconsin.slopes import slopes
from tare.report.wisconsin.speed_ups import speed_ups
from tare.report.wisconsin.stored import StoredQatC, qatcs
from tare.report.wisconsin.systems import Named, named
from tare.workload.wisconsin.catalogue import catalogue
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.published import TABLES
from tare.workload.wisconsin.query import Class, WisconsinQuery

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart


@dataclass(frozen=True)
class Built:
    """`report` holds every number of the report; its charts are drawn when a page shows them."""

    report: WisconsinReport
    measured: Measurements

    @cached_property
    def charts(self) -> Sequence[Chart | NoChart]:
        """In the order of the page."""
        from tare.report.wisconsin.charts import classes, sizes, years

        every = [(generation, kind) for generation in Generation for kind in Class]
        drawn: list[Chart | NoChart | None] = [
            years.chart(self.measured),
            *(classes.chart(self.measured, *pair) for pair in every),
            *(sizes.chart(self.measured, self.report.slopes, *pair) for pair in every),
        ]
        return [chart for chart in drawn if chart is not None]


def build(
    frames: Frames,
    facts: Sequence[Facts],
    stored: Sequence[StoredQatC],
    exact: Outcome,
    *,
    lab: str,
    title: str | None = None,
) -> Built:
    """`exact`: the exact protocol over these frames; `lab`: its name without a password.

    Raises UsageError for a run of another experiment."""
    names = named(facts, stored)
    known = [query for generation in Generation for query in catalogue(generation)]
    measured = measurements(names, known, stored, exact)
    ran = [query for query in known if any(one.query is query for one in measured.seen)]
    same = answers(measured)
    faster = list(speed_ups(measured))
    report = WisconsinReport(
        title=title or "The Wisconsin benchmark",
        written_at=written_at(),
        written_by=written_by(),
        lab=lab,
        headline=list(headline(measured, same, faster)),
        unfinished=list(_unfinished(facts)),
        systems=list(names.systems),
        queries=[_query(query) for query in ran],
        times=[one.timed for one in measured.seen],
        tables=list(_paper_tables()),
        questions=list(questions(measured)),
        speed_ups=faster,
        slopes=list(slopes(measured)),
        answers=same,
        missing=[*gathered.missing(frames), *_incomplete(names, stored), *_unknown(names, known, stored)],
        exact=_left(exact),
        machines=gathered.machines(facts),
        runs=gathered.runs(facts, frames),
        reproduction=gathered.reproduction(facts, frames),
        commands=_commands(facts, exact),
    )
    return Built(report, measured)


def _query(query: WisconsinQuery) -> Query:
    return Query(
        name=query.name,
        generation=query.generation.value,
        number=query.number,
        kind=query.klass.value,
        organisation=query.organisation.value,
        operation=query.operation,
        title=query.title,
        published=f"Table {query.published[0]}, {query.published[1]}" if query.published else None,
    )


def _unfinished(facts: Sequence[Facts]) -> Iterator[str]:
    for one in facts:
        run = one.run
        if run["state"] != RunState.DONE.value:
            said = f": {run['said']}" if run["said"] else ""
            yield f"Run {experiment_id(run['id'])} on {one.dbms['name']} {one.dbms['version']} is {run['state']}{said}"


def _incomplete(names: Named, stored: Sequence[StoredQatC]) -> Iterator[Missing]:
    """Q@Cs whose QEs are not all there."""
    dbms = {run: system.dbms for system in names.systems for run in system.runs}
    for one in stored:
        if one.state is QatCState.PENDING:
            yield Missing(
                run=one.run,
                dbms=dbms[one.run],
                query=one.query,
                cardinality=one.size,
                why=f"its run was left after {len(one.qes)} of its QEs",
            )


def _unknown(
    names: Named, known: Sequence[WisconsinQuery], stored: Sequence[StoredQatC]
) -> Iterator[Missing]:
    """Yield the Q@Cs that another version of Tare ran."""
    dbms = {run: system.dbms for system in names.systems for run in system.runs}
    keys = {(query.generation, query.name) for query in known}
    for one in stored:
        if (names.generations[one.run], one.query) not in keys:
            yield Missing(
                run=one.run,
                dbms=dbms[one.run],
                query=one.query,
                cardinality=one.size,
                why="this version of Tare does not know the query; the version that ran it does",
            )


def _left(exact: Outcome) -> Left:
    first, last = (exact.remaining[0], exact.remaining[-1]) if exact.remaining else (None, None)
    return Left(
        title=exact.title,
        citation=exact.citation,
        accepted=list(exact.accepted),
        stopped=exact.stopped,
        qes_at_start=first.qes if first else 0,
        qes_retained=last.qes if last else 0,
        qatcs_at_start=first.qatcs if first else 0,
        qatcs_retained=last.qatcs if last else 0,
        deviations=list(exact.deviations),
    )


def _commands(facts: Sequence[Facts], exact: Outcome) -> list[str]:
    names = dict.fromkeys(one.experiment["name"] for one in facts)
    accept = "".join(f' --accept "{name}"' for name in exact.accepted if name not in ALWAYS_ACCEPTED)
    return [
        *(f"tare experiment run {name}.toml --lab lab.db" for name in names),
        "tare lab list --lab lab.db",
        f"tare bench report RUN… --lab lab.db --html wisconsin.html{accept}",
    ]


ALWAYS_ACCEPTED = (MISSING_QUERIES.name,)
"""A DBMS without hash indexes cannot run what asks for one: that is listed, and stops nothing."""


def make(where: str, runs: Sequence[str], *, accept: Sequence[str] = (), title: str | None = None) -> Built:
    """`where`: a lab, or the folder of an export; `accept`: experiment-wide checks taken as deviations.

    Raises NoSuchRun, LabError, ForeignFile, UsageError.
    """
    from tare.protocol import run_protocol

    frames = open_frames(where, runs)
    ids = [int(one) for one in frames.run.order_by("id").id.to_pyarrow().to_pylist()]
    exact = run_protocol(frames, "exact", accept=[*ALWAYS_ACCEPTED, *accept])
    return build(frames, facts_of(where, ids), qatcs(where, ids), exact, lab=lab_name(where), title=title)


def _paper_tables() -> Iterator[PaperTable]:
    of = {one.published: one.name for one in catalogue(Generation.Y1983) if one.published is not None}
    for table in TABLES:
        yield PaperTable(
            number=table.number,
            title=table.title,
            note=table.note,
            columns=[
                Column(
                    key=column.key,
                    heading=column.heading,
                    group=column.group,
                    query=of.get((table.number, column.key)),
                )
                for column in table.columns
            ],
            published_s={
                system: [one.printed for one in elapsed] for system, elapsed in table.elapsed.items()
            },
        )
