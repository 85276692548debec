"""`tare bench oltp`: transactional workloads, sent on an intended schedule and judged by it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tare.cli import bench_oltp_report, options
from tare.cli.command import Commands
from tare.cli.experiment_run import Dir

app = Commands(
    help="Transactional workloads: TPC-C, TATP, SEATS, Epinions, YCSB, at a rate that is held or said not to be.",
    no_args_is_help=True,
)


class Level(StrEnum):
    READ_COMMITTED = "read-committed"
    REPEATABLE_READ = "repeatable-read"
    SERIALIZABLE = "serializable"


Named = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="Workload by its name in `tare bench oltp list`.")
]
Db = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="TARE_DB",
        metavar="URL|NAME",
        callback=options.url,
        help="postgresql://…, mariadb://…, sqlite:///f.db; or postgresql, mariadb, sqlite: Tare starts it for this "
        "command, and keeps its data for the next.",
    ),
]
Scale = Annotated[
    float | None,
    typer.Option(min=0.001, max=1e9, help="How large; `tare bench oltp list` says what 1 is."),
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A setting of the workload. Repeatable."),
]
FixedLines = Annotated[
    int | None, typer.Option(min=1, max=99, metavar="N", help="TPC-C: every New-Order has so many lines.")
]
Core = Annotated[str | None, typer.Option(metavar="a…f", help="YCSB: one of its core mixes.")]


@app.command()
def load(
    workload: Named,
    db: Db,
    scale: Scale = 1.0,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=2**63 - 1, metavar="N", help="Seed of the data: the same seed gives the same rows."
        ),
    ] = 1,
    connections: Annotated[
        int, typer.Option(min=1, max=256, help="Number of connections that load at the same time.")
    ] = 4,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop tables of the workload's names that are there already.")
    ] = False,
    option: Setting = None,
    fixed_lines: FixedLines = None,
    core: Core = None,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    json: options.AsJson = False,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Make a workload's tables and fill them. One seed fixes every row.

    Exit code: 0 done, 1 it failed, 2 the request was at fault, 130 Ctrl-C. What an interrupted
    load left is dropped when it is loaded again.
    """
    from tare.cli import oltp_request
    from tare.cli.oltp_actions import loaded
    from tare.cli.oltp_call import Call

    call = Call(workload, db, lab, dir_, connect_timeout, json)
    settings = oltp_request.options(option or (), fixed_lines=fixed_lines, core=core)
    loaded(call, scale=scale, seed=seed, settings=settings, connections=connections, replace=replace)


@app.command()
def run(
    workload: Named,
    db: Db,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="R[:DURATION][,…]",
            help="Transactions a second, below one too; several make phases: 200:30s,400:30s. "
            "Without it: a closed loop, each connection sends its next when the last has ended.",
        ),
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="constant|poisson|trace:FILE",
            help="How the rate is spread; or a file with a line for each arrival, seconds from the start. "
            "Default: constant.",
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=10_000, help="Each with a thread of the driver.")
    ] = 16,
    duration: Annotated[
        str, typer.Option(metavar="DURATION", help="Length of the measured part: 60s, 2m, 500ms.")
    ] = "60s",
    warmup: Annotated[
        str,
        typer.Option(
            metavar="DURATION", help="Sent before it, not counted; what it leaves over is ended first."
        ),
    ] = "10s",
    drain: Annotated[
        str, typer.Option(metavar="DURATION", help="For what is due and not started when the schedule ends.")
    ] = "10s",
    shed_after: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Do not send what is later than this, and count it as shed."),
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE=WEIGHT[,…]",
            help="Types of transactions to send. Repeatable. Default: the workload's mix.",
        ),
    ] = None,
    isolation: Annotated[
        Level, typer.Option(help="Asked of the DBMS; SQLite is always serializable.")
    ] = Level.READ_COMMITTED,
    tries: Annotated[
        int,
        typer.Option(min=1, max=1000, help="Tries of a transaction in all, after deadlocks and the like."),
    ] = 3,
    think: Annotated[
        float,
        typer.Option(min=0, max=1000, help="Closed loop: the workload's keying and think times, times this."),
    ] = 0.0,
    norm: Annotated[
        float, typer.Option(min=1, max=64, metavar="P", help="Exponent p of the L_p norm of response times.")
    ] = 2.0,
    option: Setting = None,
    fixed_lines: FixedLines = None,
    core: Core = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=1e9, help="Refuse data of another scale. Default: take them as they are."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="F.PARQUET", help="Write every transaction of the measured part: three instants each."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Seed of types, parameters and arrivals. Default: a new one each time, which the result names; a run "
            "with a seed that its data have seen repeats what was done to them.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Hold the workload's conditions against the data, before and after."
        ),
    ] = True,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    json: options.AsJson = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    machine_settings: options.Settings = True,
) -> None:
    """Send a workload's transactions as they fall due, and tell what became of each.

    Response time counts from when a transaction was due, service time from when it was sent: a server that stalls
    shows in the first. A run is invalid if it misses its rate by more than 1%, leaves something unsent, or more than 1%
    of its transactions do not succeed, or if the server restarts. A run is not judged if it is too short to tell (below
    200 transactions, or late by no more than a delay of 0.25 s), or if others used the CPUs that it needed. The first
    line of the report says which, and names freezes of a second or more.
    Ctrl-C ends it early, with what was measured; a second one at once.

    Exit code: 0 done, and valid or not judged; 1 it failed, is invalid, or a condition does not hold; 2 the request was
    at fault; 130 Ctrl-C, 143 SIGTERM.
    """
    from tare.cli import oltp_request as words
    from tare.cli import values
    from tare.cli.oltp_call import Call
    from tare.cli.oltp_run import made
    from tare.workload.oltp.request import Isolation, Run

    kind, phases = words.schedule(rate, arrivals, duration)
    action = Run(
        connections=connections,
        arrivals=kind,
        phases=phases,
        warmup_s=values.duration(warmup, "--warmup"),
        drain_s=values.duration(drain, "--drain"),
        shed_after_s=None if shed_after is None else values.duration(shed_after, "--shed-after"),
        mix=words.mix(mix or ()),
        isolation=Isolation[isolation.name],
        tries=tries,
        think=think,
        norm=norm,
        samples=None,
    )
    call = Call(workload, db, lab, dir_, connect_timeout, json)
    request = call.request(
        action, words.seed(seed), scale, words.options(option or (), fixed_lines=fixed_lines, core=core)
    )
    raise typer.Exit(made(call, request, samples, check=check, machine_settings=machine_settings))


@app.command()
def check(
    workload: Named,
    db: Db,
    rows: Annotated[int, typer.Option(min=1, max=10_000, help="Failing ones of each condition to name.")] = 5,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    json: options.AsJson = False,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Hold the workload's conditions against the data, and name the rows where one does not hold.

    Exit code: 0 all hold, 1 one does not or it failed, 2 the request was at fault.
    """
    from tare.cli.oltp_actions import checked
    from tare.cli.oltp_call import Call

    raise typer.Exit(checked(Call(workload, db, lab, dir_, connect_timeout, json), rows))


@app.command()
def drop(
    workload: Named,
    db: Db,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    json: options.AsJson = False,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Drop the workload's tables.

    Exit code: 0 done, 1 it failed, 2 the request was at fault.
    """
    from tare.cli.oltp_actions import dropped
    from tare.cli.oltp_call import Call

    dropped(Call(workload, db, lab, dir_, connect_timeout, json))


@app.command("list")
def list_(json: options.AsJson = False) -> None:
    """Name the workloads, their types of transactions with the default mix, and what their scale means."""
    from tare.cli.oltp_actions import listed

    listed(as_json=json)


app.command()(bench_oltp_report.report)
app.command()(bench_oltp_report.compare)
app.command()(bench_oltp_report.runs)
