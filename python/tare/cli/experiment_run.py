"""`tare experiment run` and `resume`: a specification's runs, one for each DBMS, made one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options

Dir = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Directory for data of DBMSes that Tare starts; by default next to the lab. They stay for `resume`.",
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        "--progress-json", metavar="FILE|-", help="Write events as JSON lines; a QE's once it is durable."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print how the runs stand at the end as JSON.")]


def run(
    specification: Annotated[Path, typer.Argument(metavar="E.TOML", help="The experiment's specification.")],
    lab: options.Lab = "lab.db",
    dbms: Annotated[
        list[str] | None,
        typer.Option("--dbms", metavar="NAME", help="Only this DBMS of the specification. Repeatable."),
    ] = None,
    dir_: Dir = None,
    progress_json: Events = None,
    json: AsJson = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Run an experiment: one run for each DBMS of the specification, every query execution kept in the lab.

    Ctrl-C pauses after the query execution in hand (a second Ctrl-C at once), and `tare experiment resume` goes on
    where it was. A server or a lab that goes away is waited for: ten tries with doubling pauses, then the run
    pauses. To keep everybody else off its CPUs: tare isolate -- tare experiment run E.TOML

    Exit code: 0 done, 1 a run paused or failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from tare.cli.experiment_session import Session

    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    raise typer.Exit(session.run(specification, dbms))


def resume(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    progress_json: Events = None,
    json: AsJson = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Go on with runs that were paused, or whose executor was killed: no finished query execution is lost or made
    again.

    Exit code: 0 done, 1 a run paused or failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from tare.cli.experiment_session import Session

    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    raise typer.Exit(session.resume(runs))
