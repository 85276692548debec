"""The end of every report of a lab's runs: what is missing, the runs' conditions, and how to do it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tare.report.conditions.document import Machine, Missing, Reproduction, Run
from tare.report.kit.blocks import (
    Block,
    Code,
    Column,
    Detail,
    Facts,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
)
from tare.report.numbers import thousands
from tare.report.words import NOTHING, counted, fact, joined


class Conditions(Protocol):
    """The part of a report's document that this needs."""

    @property
    def written_by(self) -> str: ...
    @property
    def lab(self) -> str: ...
    @property
    def machines(self) -> Sequence[Machine]: ...
    @property
    def runs(self) -> Sequence[Run]: ...
    @property
    def missing(self) -> Sequence[Missing]: ...
    @property
    def reproduction(self) -> Sequence[Reproduction]: ...
    @property
    def commands(self) -> Sequence[str]: ...


def sections(report: Conditions, of_protocol: Sequence[str]) -> Iterator[Section]:
    """`of_protocol`: its deviations."""
    yield Section(
        "missing", "Missing queries and failed Q@Cs", [_missing(report)], printed=bool(report.missing)
    )
    yield Section("conditions", "Conditions", list(_conditions(report, of_protocol)), printed=False)
    yield Section("reproduce", "How to do it again", list(_reproduce(report)), printed=False)


def under(report: Conditions, counts: str = "") -> str:
    """The line below the title. `counts`: of what the runs hold."""
    servers = joined(sorted({f"{one.dbms} {one.version}" for one in report.runs}))
    begun = report.runs[0].started_at[:10] if report.runs else NOTHING
    return f"{counted(len(report.runs), 'run')} on {servers} · {counts}first begun {begun}"


def unfinished(runs: Sequence[Run]) -> Iterator[str]:
    """Runs that did not come to their end, and why."""
    for one in runs:
        if one.state != "done":
            said = f": {one.said}" if one.said else ""
            yield f"run {one.id} on {one.dbms} {one.version} is {one.state}{said}"


def deviations(runs: Sequence[Run], of_protocol: Sequence[str]) -> list[str]:
    """The protocol's, and those of single runs with which."""
    of_runs: dict[str, list[str]] = {}
    for run in runs:
        for one in run.deviations:
            of_runs.setdefault(one, []).append(str(run.id))
    return [
        *(one for one in of_protocol if one not in of_runs),
        *(f"{one} (run {', '.join(numbers)})" for one, numbers in of_runs.items()),
    ]


def _missing(report: Conditions) -> Block:
    if not report.missing:
        return Paragraph("None: every query ran on every DBMS at every cardinality.")
    return Table(
        "What has no time, and why",
        [
            Column("query", Kind.NAME),
            Column("cardinality"),
            Column("run"),
            Column("DBMS", Kind.PROSE),
            Column("why", Kind.PROSE),
        ],
        [
            [
                one.query,
                "all" if one.cardinality is None else thousands(one.cardinality),
                str(one.run),
                one.dbms,
                one.why,
            ]
            for one in report.missing
        ],
        grows=True,
    )


# Conditions ------------------------------------------------------------------------------
def _conditions(report: Conditions, of_protocol: Sequence[str]) -> Iterator[Block]:
    yield _runs(report.runs)
    names = dict.fromkeys(name for one in report.machines for name in one.facts)
    yield Table(
        "Machines",
        [
            Column("fact", Kind.NAME),
            *(Column(f"machine {place}", Kind.PROSE) for place in range(1, len(report.machines) + 1)),
        ],
        [
            [name.replace("_", " "), *(fact(one.facts.get(name), name) for one in report.machines)]
            for name in names
        ],
    )
    seen: list[tuple[str, dict[str, str]]] = []
    for run in report.runs:
        one = f"{run.dbms} {run.version}", run.settings
        if run.settings and one not in seen:
            seen.append(one)
            settings = Facts("Settings that matter to a measurement", list(run.settings.items()))
            yield Detail(f"Settings of {one[0]}", [settings])
    unmeasured: dict[tuple[str, str], list[str]] = {}
    for run in report.runs:
        for measure, why in run.means.items():
            unmeasured.setdefault((measure, why), []).append(str(run.id))
    if unmeasured:
        yield Items([
            Item(f"not measured: {measure.replace('_', ' ')} (run {', '.join(numbers)}): {why}")
            for (measure, why), numbers in unmeasured.items()
        ])  # fmt: skip
    listed = deviations(report.runs, of_protocol)
    yield Items([Item(f"deviation: {one}") for one in listed] or [Item("no deviation was recorded")])


def _runs(runs: Sequence[Run]) -> Table:
    words = ("experiment", "DBMS", "caches", "kernel read by", "begun", "state")
    counts = (
        "machine",
        "CPUs",
        "QEs a Q@C",
        "queries",
        "Q@Cs timed",
        "same plan",
        "failed",
        "QEs",
        "tick, ms",
    )
    rows: list[Row] = [
        [
            f"{run.id} ({run.uuid[:8]})",
            f"{run.experiment}, {run.scenario}",
            f"{run.dbms} {run.version}",
            run.cache,
            run.tier,
            run.started_at[:16].replace("T", " "),
            f"{run.state}: {run.said}" if run.said else run.state,
            *map(thousands, (
                run.machine + 1, run.online_cpus, run.qes_per_qatc, run.queries, run.qatcs, run.same_plan,
                run.failed_qatcs, run.qes,
            )),
            f"{run.tick_ms:g}",
        ]
        for run in runs
    ]  # fmt: skip
    columns = [
        Column("run", Kind.NAME),
        *(Column(name, Kind.PROSE) for name in words),
        *map(Column, counts),
    ]
    return Table("Runs", columns, rows)


# Again ------------------------------------------------------------------------------------
def _reproduce(report: Conditions) -> Iterator[Block]:
    versions = ", ".join(sorted({run.tare for run in report.runs}))
    yield Paragraph(
        f"Tare {versions} made the runs, Tare {report.written_by} wrote this report from the lab {report.lab}.",
        Tone.QUIET,
    )
    yield Code("\n".join(report.commands))
    for one in report.reproduction:
        yield Detail(
            f"Specification of {one.experiment} (TOML, SHA-256 {one.hash[:16]}…)", [Code(one.toml, "toml")]
        )
        if one.queries:
            sql = "\n\n".join(f"-- {name}\n{text.rstrip()};" for name, text in one.queries)
            number = counted(len(one.queries), "query", "queries")
            yield Detail(f"{number[:1].upper()}{number[1:]} of {one.experiment}", [Code(sql, "sql")])
