"""`tare experiment run` and `resume`: the runs of a specification, one for each DBMS, in turn."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs

Events = Annotated[
    str | None,
    options.output("--progress-json", "Write events as JSON lines, each execution's once it is durable."),
]
Web = Annotated[
    bool, typer.Option("--web", help="Show the run in a browser meanwhile, with buttons: see `tare observe`.")
]
State = Annotated[str | None, options.output("--json", "Write the state of the runs at the end as JSON.")]


@needs("report")
def run(
    specification: Annotated[
        Path, typer.Argument(metavar="FILE", help="The experiment's specification, in TOML.")
    ],
    lab: options.Lab = "lab.db",
    dbms: Annotated[
        list[str] | None,
        typer.Option("--dbms", metavar="NAME", help="Only this DBMS of the specification. Repeatable."),
    ] = None,
    dir_: options.Dir = None,
    progress_json: Events = None,
    json: State = None,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
    web: Web = False,
) -> None:
    """Run an experiment: one run for each DBMS of the specification. The lab keeps every execution of a query.

    Ctrl-C pauses after the current execution (a second Ctrl-C at once); `tare experiment resume` continues there.
    When a server or the lab goes away, Tare tries ten times with doubling pauses, then pauses the run. To keep other
    processes off its CPUs: tare isolate -- tare experiment run FILE

    Example: tare experiment run e.toml --lab lab.db
    """
    from tare.cli.experiment_session import Session
    from tare.cli.observe import beside

    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    with beside(lab) if web else nullcontext():
        raise typer.Exit(session.run(specification, dbms))


@needs("report")
def resume(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    progress_json: Events = None,
    json: State = None,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
    web: Web = False,
) -> None:
    """Continue runs that were paused, or whose executor was killed. No finished execution is lost or repeated.

    Example: tare experiment resume e3 --lab lab.db
    """
    from tare.cli.experiment_session import Session
    from tare.cli.observe import beside

    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    with beside(lab) if web else nullcontext():
        raise typer.Exit(session.resume(runs))
