"""`tare lab`: lists, exports, imports and verifies the runs of a lab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tare.cli import destinations, options
from tare.cli.command import Commands, needs
from tare.cli.help import OUTPUT

if TYPE_CHECKING:
    from tare.lab.verify import Verified

app = Commands(
    help="List, export, import and verify the runs of a lab.\n\nExample: tare lab list --lab lab.db",
    no_args_is_help=True,
)


@app.command("list")
@needs("report")
def list_(
    lab: options.Lab = "lab.db",
    profiles: options.Profiles = "profiles",
    tunings: options.Tunings = "tunings",
    json: options.Json = None,
) -> None:
    """List all runs, oldest first: experiments (e), transactional runs (o), profiles (p) and tuning runs (t).

    Other commands take a run by the id in the first column.

    Example: tare lab list --lab lab.db
    """
    from tare.cli.lab_list import find, show

    destinations.check({"json": json})
    found = find(lab, Path(profiles), Path(tunings))
    if destinations.write_json(found.document(), json):
        show(found)


@app.command()
@needs("report")
def export(
    parquet: Annotated[
        Path,
        typer.Option(
            "--parquet", metavar="DIR", help="New folder for the Parquet files.", rich_help_panel=OUTPUT
        ),
    ],
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs by id, as `tare lab list` shows them: e3, o1. Or the beginning of a UUID.",
        ),
    ],
    lab: options.Lab = "lab.db",
    json: options.Json = None,
) -> None:
    """Write runs to a folder of Parquet files, whole or not at all.

    Example: tare lab export e1 e2 --parquet shared --lab lab.db
    """
    from tare.lab.exporting import export as export_runs
    from tare.lab.oltp import find
    from tare.lab.run_ids import Kind, parse
    from tare.lab.store import find_runs, open_lab

    destinations.check({"json": json})
    of_oltp = [text for text in runs if (run_id := parse(text)) is not None and run_id.kind is Kind.OLTP]
    with open_lab(lab) as opened:
        transactional = list(dict.fromkeys(find(opened, text) for text in of_oltp))
        experiments = find_runs(opened, [text for text in runs if text not in of_oltp])
        done = export_runs(opened, experiments, parquet, transactional)
    rows = {table: facts.rows for table, facts in done.files.items()}
    more = {"oltp_runs": list(done.oltp_runs)} if done.oltp_runs else {}
    document = {"folder": str(parquet), "runs": list(done.runs), "rows": rows, **more}
    if destinations.write_json(document, json):
        size = sum(facts.bytes for facts in done.files.values())
        beside = f", {_count(len(done.oltp_runs), 'transactional run')}" if done.oltp_runs else ""
        typer.echo(
            f"{parquet}: {_count(len(done.runs), 'run')}, {_count(rows['qe'], 'QE')}{beside}, {size:,} bytes"
        )


@app.command("import")
@needs("report")
def import_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `tare lab export` wrote.")],
    lab: options.Lab = "lab.db",
    json: options.Json = None,
) -> None:
    """Add the runs of an export to a lab, all or none. The lab is made if it does not exist.

    A run keeps its UUID and gets a new id. Runs that the lab already has are skipped.

    Example: tare lab import shared --lab lab.db
    """
    from tare.lab.foreign import Export
    from tare.lab.importing import import_ as import_runs
    from tare.lab.store import open_lab

    destinations.check({"json": json})
    with Export(folder) as found, open_lab(lab, create=True) as opened:
        done = import_runs(opened, found)
    more = {"oltp_runs": dict(done.oltp)} if done.oltp else {}
    document = {
        "lab": opened.where,
        "runs": dict(done.runs),
        "skipped": done.skipped,
        "rows": done.rows,
        **more,
    }
    if not destinations.write_json(document, json):
        return
    for uuid, number in done.runs.items():
        typer.echo(f"run {uuid} is run e{number} of {opened.where}")
    for uuid, number in done.oltp.items():
        typer.echo(f"run {uuid} is run o{number} of {opened.where}")
    for uuid in done.skipped:
        typer.echo(f"run {uuid} is already in {opened.where}: skipped")


@app.command()
@needs("report")
def verify(runs: options.Runs, lab: options.Lab = "lab.db", json: options.Json = None) -> None:
    """Compute every difference again from the raw readings, and compare it with the lab's value.

    The exit code is 1 if a value differs.

    Example: tare lab verify e1 --lab lab.db
    """
    from tare.lab.store import find_runs, open_lab
    from tare.lab.verify import verify as verify_runs

    destinations.check({"json": json})
    with open_lab(lab) as opened:
        done = verify_runs(opened, find_runs(opened, runs))
    if destinations.write_json(_verified_as_json(done), json):
        _print_verified(done)
    if done.mismatches:
        raise typer.Exit(1)


# How it is shown ----------------------------------------------------------------
def _print_verified(done: Verified) -> None:
    for one in done.first:
        typer.echo(
            f"run e{one.run_id}, QE {one.run_order}: {one.what} is {one.stored} in the lab and "
            f"{one.computed} by the readings"
        )
    if done.mismatches > len(done.first):
        typer.echo(f"… and {done.mismatches - len(done.first)} more")
    if done.without_readings:
        typer.echo(f"{_count(done.without_readings, 'QE')} of {done.qes} have no raw readings")
    looked = done.qes - done.without_readings
    verdict = f"{_count(done.mismatches, 'value')} differ" if done.mismatches else "all agree"
    typer.echo(f"{_count(looked, 'QE')}, {_count(done.values, 'value')} computed again: {verdict}")


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


def _printable(text: str) -> str:
    """Text of other people's runs without characters that could control the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
