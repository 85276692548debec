"""`tare executor`: runs the jobs of a shared lab on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands, needs

app = Commands(
    help="Run jobs of a PostgreSQL lab that several machines share. `tare experiment submit` adds them.\n\n"
    "Example: tare executor run --lab postgresql://lab/tare --name m1 --dbms postgresql,sqlite",
    no_args_is_help=True,
)


@app.command()
@needs("report")
def run(
    lab: options.Lab = "lab.db",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of this executor, one of its own. Default: this machine's."),
    ] = None,
    dbms: Annotated[
        str,
        typer.Option(metavar="NAME[,...]", help="Kinds of DBMSs whose jobs it takes."),
    ] = "postgresql,mariadb,sqlite,duckdb",
    once: Annotated[bool, typer.Option("--once", help="End when no job is left.")] = False,
    dir_: options.Dir = None,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Claim jobs one after the other, and measure them here.

    A run stays on the machine that began it: after a crash the same executor continues it. Ctrl-C or SIGTERM ends the
    executor after the current execution, a second one at once; the job stays claimed. While the lab is away the
    executor waits.

    Example: tare executor run --lab postgresql://lab/tare --name m1 --once
    """
    from tare.cli.executor_session import work

    raise typer.Exit(
        work(
            lab,
            name,
            dbms,
            once,
            dir_,
            allow_restart,
            connect_timeout,
            tier,
            machine_settings=machine_settings,
        )
    )


@app.command("list")
@needs("report")
def list_(lab: options.Lab = "lab.db", json: options.Json = None) -> None:
    """List the jobs of a lab, and which executor has each.

    Example: tare executor list --lab postgresql://lab/tare
    """
    from rich.console import Console

    from tare.cli import destinations
    from tare.lab.jobs import jobs, need_server
    from tare.lab.store import open_lab
    from tare.report.kit.terminal import print_blocks
    from tare.report.observe.jobs import document, table

    destinations.check({"json": json})
    with open_lab(lab) as opened:
        need_server(opened)
        found = jobs(opened)
        where = opened.where
    if destinations.write_json({"lab": where, "jobs": [document(one) for one in found]}, json):
        print_blocks([table(found)], Console(highlight=False))


@app.command("give-up")
@needs("report")
def give_up(
    job: Annotated[int, typer.Argument(metavar="JOB", help="Job by its number: 3.")],
    lab: options.Lab = "lab.db",
    force: Annotated[
        bool,
        typer.Option("--force", help="Also if its executor was heard from within the last five minutes."),
    ] = False,
) -> None:
    """Give a claimed job to any executor again, as a new run. The run that was begun counts as failed.

    An executor that had the job and is still alive can write nothing more of it.

    Example: tare executor give-up 3 --lab postgresql://lab/tare
    """
    from tare.lab.jobs import give_up as let_go
    from tare.lab.store import open_lab

    with open_lab(lab) as opened:
        let_go(opened, job, force=force)
    typer.echo(f"job {job} waits for an executor")


def submitted(file: Path, lab: str, machines: str | None, names: list[str] | None) -> list[int]:
    """Jobs that were added, by number. Raises what is wrong with the specification."""
    from tare.experiment.read import read_specification
    from tare.experiment.target import chosen_dbms
    from tare.lab.jobs import submit
    from tare.lab.store import open_lab

    specification, toml = read_specification(file)
    chosen = [one.name for one in chosen_dbms(specification, names)]
    wanted: list[str | None] = [*filter(None, (one.strip() for one in (machines or "").split(",")))] or [None]
    with open_lab(lab, create=True) as opened:
        return submit(opened, specification, toml, chosen, wanted)
