"""Blocks that end a report of a lab: queries without a time, conditions of the runs, how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tare.lab.ids import experiment_id
from tare.report.conditions.document import Machine, Missing, Reproduction, Run
from tare.report.kit.blocks import (
    Block,
    Code,
    Column,
    Detail,
    Facts,
    Heading,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Table,
    Tone,
)
from tare.report.numbers import thousands
from tare.report.safe import short
from tare.report.words import fact

MOST_WHY = 400  # characters of a reason


class Conditions(Protocol):
    """The part of a report's document that the blocks need."""

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


# Missing ---------------------------------------------------------------------------------
def missing_blocks(report: Conditions) -> list[Block]:
    if not report.missing:
        return [Paragraph("None: every query ran on every DBMS at every cardinality.")]
    rows: list[Row] = [
        [
            str(one.run),
            one.dbms,
            short(one.query),
            "all" if one.cardinality is None else thousands(one.cardinality),
            short(one.why, MOST_WHY),
        ]
        for one in report.missing
    ]
    columns = [
        Column("run"),
        Column("DBMS", Kind.NAME),
        Column("query", Kind.PROSE),
        Column("cardinality"),
        Column("why", Kind.PROSE),
    ]
    return [Table("What has no time, and why", columns, rows, grows=True)]


# Conditions ------------------------------------------------------------------------------
def conditions_blocks(report: Conditions, of_protocol: Sequence[str]) -> list[Block]:
    """`of_protocol`: the protocol's deviations, which stand before those of the runs."""
    listed = deviations(report, of_protocol)
    return [
        _runs(report.runs),
        _machines(report.machines),
        *_settings(report.runs),
        *_unmeasured(report.runs),
        Heading("Deviations from the protocol"),
        Items([Item(one) for one in listed]) if listed else Paragraph("None was recorded."),
    ]


def deviations(report: Conditions, of_protocol: Sequence[str]) -> list[str]:
    """The protocol's deviations, then those of single runs with the runs' ids."""
    of_runs: dict[str, list[str]] = {}
    for run in report.runs:
        for one in run.deviations:
            of_runs.setdefault(one, []).append(experiment_id(run.id))
    return [
        *(one for one in of_protocol if one not in of_runs),
        *(f"{one} (run {', '.join(runs)})" for one, runs in of_runs.items()),
    ]


def _runs(runs: Sequence[Run]) -> Table:
    rows: list[Row] = [
        [
            f"{experiment_id(run.id)} ({run.uuid[:8]})",
            f"{short(run.experiment)}, {run.scenario}",
            f"{run.dbms} {run.version}",
            str(run.machine + 1),
            str(run.online_cpus),
            run.cache,
            str(run.qes_per_qatc),
            *(thousands(n) for n in (run.queries, run.qatcs, run.same_plan, run.failed_qatcs, run.qes)),
            run.tier,
            f"{run.tick_ms:g}",
            run.started_at[:16].replace("T", " "),
            f"{run.state}: {short(run.said, 200)}" if run.said else run.state,
        ]
        for run in runs
    ]
    columns = [
        Column("run", Kind.NAME),
        Column("experiment, scenario", Kind.NAME),
        Column("DBMS", Kind.NAME),
        Column("machine"),
        Column("CPUs"),
        Column("caches", Kind.NAME),
        *map(Column, ("QEs a Q@C", "queries", "Q@Cs timed", "same plan", "failed", "QEs")),
        Column("kernel read by", Kind.NAME),
        Column("tick, ms"),
        Column("begun", Kind.NAME),
        Column("state", Kind.PROSE),
    ]
    return Table("Runs", columns, rows)


def _machines(machines: Sequence[Machine]) -> Table:
    names = dict.fromkeys(name for one in machines for name in one.facts)
    rows: list[Row] = [
        [name.replace("_", " "), *(fact(one.facts.get(name), name) for one in machines)] for name in names
    ]
    numbers = range(1, len(machines) + 1)
    columns = [Column("fact", Kind.NAME), *(Column(f"machine {number}", Kind.PROSE) for number in numbers)]
    return Table("Machines", columns, rows)


def _settings(runs: Sequence[Run]) -> list[Block]:
    """Settings of each server once; two with the same name may differ in them."""
    servers: list[tuple[str, dict[str, str]]] = []
    for run in runs:
        server = (f"{run.dbms} {run.version}", run.settings)
        if run.settings and server not in servers:
            servers.append(server)
    return [
        Detail(
            f"Settings of {name}",
            [Facts(f"{name}: settings that matter to a measurement", list(settings.items()))],
        )
        for name, settings in servers
    ]


def _unmeasured(runs: Sequence[Run]) -> list[Block]:
    ids: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for measure, why in run.means.items():
            ids.setdefault((measure, why), []).append(experiment_id(run.id))
    items = [
        Item(f"{measure.replace('_', ' ')} (run {', '.join(of)}): {short(why, MOST_WHY)}")
        for (measure, why), of in ids.items()
    ]
    return [Heading("Not measured over a whole run"), Items(items)] if items else []


# How to do it again ------------------------------------------------------------------------
def reproduce_blocks(report: Conditions) -> list[Block]:
    versions = ", ".join(sorted({run.tare for run in report.runs}))
    blocks: list[Block] = [
        Paragraph(
            f"Tare {versions} made the runs, Tare {report.written_by} wrote this report from the lab {report.lab}.",
            Tone.QUIET,
        ),
        Code("\n".join(report.commands)),
    ]
    for one in report.reproduction:
        specification: list[Block] = [
            Paragraph(f"TOML, SHA-256 {one.hash}.", Tone.QUIET),
            Code(one.toml, "toml"),
        ]
        blocks.append(Detail(f"Specification of {one.experiment}", specification))
        if one.queries:
            count = f"{thousands(len(one.queries))} quer{'y' if len(one.queries) == 1 else 'ies'}"
            blocks.append(Detail(f"{count} of {one.experiment}", [Code(_queries(one), "sql")]))
    return blocks


def _queries(reproduction: Reproduction) -> str:
    """Return the queries as one text, since a page cuts each text by itself."""
    return "\n\n".join(f"-- {' '.join(short(name).split())}\n{sql}" for name, sql in reproduction.queries)
