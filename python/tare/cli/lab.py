"""`tare lab`: what a lab holds, and runs taken from one lab to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tare.cli import options
from tare.cli.command import Commands

if TYPE_CHECKING:
    from tare.lab.progress import RunSummary
    from tare.lab.verify import Verified
    from tare.report.kit.blocks import Table

app = Commands(help="Look into a lab, and take runs from one to another.", no_args_is_help=True)


@app.command("list")
def list_(lab: options.Lab = "lab.db", as_json: options.AsJson = False) -> None:
    """List the runs of a lab, oldest first: those of experiments, then transactional ones.

    An experiment's run that is `stopped` is said to be running and nobody holds it: its executor was killed.

    Exit code: 0 done, 1 the lab cannot be read.
    """
    from dataclasses import asdict

    from tare.cli.bench_oltp_report import runs_table
    from tare.experiment.status import shown_state
    from tare.lab.hold import is_held
    from tare.lab.oltp import listed
    from tare.lab.progress import runs
    from tare.lab.store import open_lab
    from tare.report.kit.deliver import show_blocks

    with open_lab(lab) as opened:
        found = [(one, shown_state(one.run.state, is_held(opened, one.run.id))) for one in runs(opened)]
        transactional = listed(opened)
    if as_json:
        _print_json(
            {
                "lab": opened.where,
                "runs": [_as_json(one, state) for one, state in found],
                "oltp_runs": [asdict(one) for one in transactional],
            }
        )
    elif not (found or transactional):
        typer.echo(f"the lab {opened.where} has no runs")
    else:
        tables = [_runs_table(found)] if found else []
        show_blocks([*tables, *([runs_table(transactional)] if transactional else [])])


@app.command()
def export(
    parquet: Annotated[
        Path, typer.Option("--parquet", metavar="DIR", help="A new folder for the Parquet files.")
    ],
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Runs of the lab, by their ids: e1 e2 o1. The beginning of an experiment's uuid will do, too.",
        ),
    ],
    lab: options.Lab = "lab.db",
    as_json: options.AsJson = False,
) -> None:
    """Write runs to a folder of Parquet files, whole or not at all.

    Exit code: 0 done, 1 the lab cannot be read or the folder not written, 2 the request was at fault.
    """
    from tare.lab.exporting import export as export_runs
    from tare.lab.ids import IdKind, kind_of
    from tare.lab.store import find_oltp_run, find_runs, open_lab

    oltp = [one for one in run if kind_of(one) is IdKind.OLTP]
    others = [one for one in run if one not in oltp]
    with open_lab(lab) as opened:
        transactional = list(dict.fromkeys(find_oltp_run(opened, one) for one in oltp))
        done = export_runs(opened, find_runs(opened, others), parquet, transactional)
    rows = {table: facts.rows for table, facts in done.files.items()}
    if as_json:
        more = {"oltp_runs": list(done.oltp_runs)} if done.oltp_runs else {}
        _print_json({"folder": str(parquet), "runs": list(done.runs), "rows": rows, **more})
    else:
        size = sum(facts.bytes for facts in done.files.values())
        beside = f", {_count(len(done.oltp_runs), 'transactional run')}" if done.oltp_runs else ""
        typer.echo(
            f"{parquet}: {_count(len(done.runs), 'run')}, {_count(rows['qe'], 'QE')}{beside}, {size:,} bytes"
        )


@app.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `tare lab export` wrote.")],
    lab: options.Lab = "lab.db",
    as_json: options.AsJson = False,
) -> None:
    """Take the runs of an export into a lab, which is made if it is not there. All or nothing.

    A run keeps its id (uuid) and gets a new number; one that the lab has already is left out.

    Exit code: 0 done, 1 the lab cannot be written, 2 the folder is no export, or is damaged.
    """
    from tare.lab.foreign import Export
    from tare.lab.ids import experiment_id, oltp_id
    from tare.lab.importing import import_ as import_runs
    from tare.lab.store import open_lab

    with Export(folder) as found, open_lab(lab, create=True) as opened:
        done = import_runs(opened, found)
    if as_json:
        more = {"oltp_runs": dict(done.oltp)} if done.oltp else {}
        _print_json(
            {"lab": opened.where, "runs": dict(done.runs), "skipped": done.skipped, "rows": done.rows, **more}
        )
        return
    for uuid, number in done.runs.items():
        typer.echo(f"run {uuid} is {experiment_id(number)} of {opened.where}")
    for uuid, number in done.oltp.items():
        typer.echo(f"run {uuid} is {oltp_id(number)} of {opened.where}")
    for uuid in done.skipped:
        typer.echo(f"run {uuid} is in {opened.where} already: left as it was")


@app.command()
def verify(run: options.Runs, lab: options.Lab = "lab.db", as_json: options.AsJson = False) -> None:
    """Compute every difference anew from the raw readings, and compare it with what the lab holds.

    Exit code: 0 all agree, 1 some do not, or the lab cannot be read, 2 no such run.
    """
    from tare.lab.store import find_runs, open_lab
    from tare.lab.verify import verify as verify_runs

    with open_lab(lab) as opened:
        done = verify_runs(opened, find_runs(opened, run))
    if as_json:
        _print_json(_verified_as_json(done))
    else:
        _print_verified(done)
    if done.mismatches:
        raise typer.Exit(1)


# How it is shown ----------------------------------------------------------------
def _runs_table(found: list[tuple[RunSummary, str]]) -> Table:
    from tare.lab.ids import experiment_id
    from tare.report.kit.blocks import Column, Kind, Row, Table
    from tare.report.kit.figure import JOINED

    rows: list[Row] = [
        [
            experiment_id(one.run.id),
            one.run.uuid[:8],
            one.run.experiment,
            f"{one.run.dbms} {one.run.dbms_version}",
            state,
            one.run.started_at[:16].replace("T", JOINED),
            _with_failed(one.queries, one.failed_queries),
            _with_failed(one.timed_qatcs, one.failed_qatcs),
            f"{one.qes:,}",
        ]
        for one, state in found
    ]
    names = ("id", "uuid", "experiment", "DBMS", "state", "begun (UTC)")
    columns = [Column(name, Kind.NAME) for name in names]
    return Table("", [*columns, *map(Column, ("queries", "Q@Cs", "QEs"))], rows)


def _with_failed(count: int, failed: int) -> str:
    return f"{count:,} ({failed:,} failed)" if failed else f"{count:,}"


def _as_json(one: RunSummary, state: str) -> dict[str, Any]:
    from tare.cli.run_json import run_json

    return {
        **run_json(one.run, state=state, said=one.run.said),
        "executor": one.run.executor,
        "queries": one.queries,
        "failed_queries": one.failed_queries,
        "qatcs": one.qatcs,
        "timed_qatcs": one.timed_qatcs,
        "failed_qatcs": one.failed_qatcs,
        "qes": one.qes,
    }


def _print_verified(done: Verified) -> None:
    from tare.lab.ids import experiment_id

    for one in done.first:
        typer.echo(
            f"{experiment_id(one.run_id)}, QE {one.run_order}: {one.what} is {one.stored} in the lab and "
            f"{one.computed} by the readings"
        )
    if done.mismatches > len(done.first):
        typer.echo(f"… and {done.mismatches - len(done.first)} more")
    if done.without_readings:
        typer.echo(f"{_count(done.without_readings, 'QE')} of {done.qes} hold no raw readings")
    looked = done.qes - done.without_readings
    verdict = f"{_count(done.mismatches, 'value')} differ" if done.mismatches else "all agree"
    typer.echo(f"{_count(looked, 'QE')}, {_count(done.values, 'value')} computed anew: {verdict}")


def _verified_as_json(done: Verified) -> dict[str, Any]:
    return {
        "qes": done.qes,
        "without_readings": done.without_readings,
        "values": done.values,
        "mismatches": done.mismatches,
        "first": [
            {
                "run": one.run_id,
                "qe": one.qe_id,
                "run_order": one.run_order,
                "what": one.what,
                "stored": one.stored,
                "computed": one.computed,
            }
            for one in done.first
        ],
    }


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _print_json(document: object) -> None:
    import json

    typer.echo(json.dumps(document))
