"""`tare bench oltp`: transactional workloads, sent on an intended schedule and measured against it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands, needs
from tare.cli.help import ADVANCED, OUTPUT, PHASES

app = Commands(
    help="Run transactional workloads at a given rate: TPC-C, TATP, SEATS, Epinions, YCSB. A report says first whether "
    "the rate was sustained.\n\nExample: tare bench oltp run tpcc --db postgresql --rate 200",
    no_args_is_help=True,
)


class Level(StrEnum):
    READ_COMMITTED = "read-committed"
    REPEATABLE_READ = "repeatable-read"
    SERIALIZABLE = "serializable"


class Statements(StrEnum):
    SIMPLE = "simple"
    UNNAMED = "unnamed"
    NAMED = "named"


Named = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="Workload by its name in `tare bench oltp list`: tpcc.")
]
Db = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="TARE_DB",
        metavar="URL|NAME",
        callback=options.url,
        help="Database: postgresql://…, mariadb://…, sqlite:///f.db; or postgresql, mariadb, sqlite, which Tare starts "
        "for this command. Their data stay for the next one.",
    ),
]
Scale = Annotated[
    float | None,
    typer.Option(
        min=0.001, max=1e9, metavar="N", help="Size of the data; `tare bench oltp list` describes scale 1."
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Setting of the workload, such as fixed_lines=15 (TPC-C) or core=a (YCSB); `tare bench oltp list` names "
        "all. Repeatable.",
    ),
]
Protocol = Annotated[
    Statements | None,
    typer.Option(
        "--protocol",
        metavar=options.choices(Statements),
        help="How statements travel. Behind a pooler that changes backends (PgBouncer's pool_mode = transaction): "
        "simple or unnamed. MariaDB: simple or named. Default: named, prepared once for each connection.",
        rich_help_panel=ADVANCED,
    ),
]


@app.command()
def load(
    workload: Named,
    db: Db,
    scale: Scale = 1.0,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Seed for the data. One seed always gives the same rows.",
            rich_help_panel=ADVANCED,
        ),
    ] = 1,
    connections: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Number of connections to load with.")
    ] = 4,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Drop existing tables of the workload's names, and what an interrupted load left.",
        ),
    ] = False,
    protocol: Protocol = None,
    option: Setting = None,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    json: options.Json = None,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Make the tables of a workload and fill them.

    A load that was interrupted is continued by the next one with the same workload, scale, seed and options.

    Example: tare bench oltp load tpcc --scale 1 --db postgresql
    """
    from tare.cli import oltp_request
    from tare.cli.oltp_actions import loaded
    from tare.cli.oltp_call import Call, protocol_of

    call = Call(workload, db, lab, dir_, connect_timeout, json, protocol_of(protocol))
    settings = oltp_request.options(option or ())
    loaded(call, scale=scale, seed=seed, settings=settings, connections=connections, replace=replace)


@app.command()
@needs("report")
def run(
    workload: Named,
    db: Db,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE[:DURATION][,...]",
            help="Transactions to start each second; several rates make phases: 200:30s,400:30s. "
            "Without a rate the loop is closed: each connection sends the next transaction when the last has ended.",
        ),
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="constant|poisson|trace:FILE",
            help="Distribution of arrivals, or a file with one line for each arrival, in seconds from the start. "
            "Default: constant.",
        ),
    ] = None,
    connections: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, metavar="N", help="Number of connections, each with a thread of the driver."
        ),
    ] = 16,
    duration: Annotated[
        float, options.duration("--duration", "Length of the measured part.", least=0.001)
    ] = 60.0,
    warmup: Annotated[
        float,
        options.duration(
            "--warmup",
            "Length of the load before the measured part. It is not counted, and its transactions end before the "
            "measured part begins.",
            panel=PHASES,
        ),
    ] = 10.0,
    drain: Annotated[
        float,
        options.duration(
            "--drain",
            "Time after the schedule's end for transactions that are due and not started.",
            panel=PHASES,
        ),
    ] = 10.0,
    shed_after: Annotated[
        float | None,
        options.duration(
            "--shed-after",
            "Do not send transactions that are later than this; count them as shed.",
            panel=ADVANCED,
        ),
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE=WEIGHT[,...]",
            help="Types of transactions to send. Repeatable. Default: the workload's mix.",
        ),
    ] = None,
    isolation: Annotated[
        Level,
        typer.Option(
            metavar=options.choices(Level),
            help="Isolation level to request from the DBMS; SQLite is always serializable.",
        ),
    ] = Level.READ_COMMITTED,
    tries: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="Attempts for each transaction that a deadlock or serialization failure ends.",
            rich_help_panel=ADVANCED,
        ),
    ] = 3,
    think: Annotated[
        float,
        typer.Option(
            min=0,
            max=1000,
            metavar="FACTOR",
            help="Factor for the workload's keying and think times, in a closed loop.",
            rich_help_panel=ADVANCED,
        ),
    ] = 0.0,
    autocommit: Annotated[
        bool,
        typer.Option(
            "--autocommit",
            help="Send a transaction of one statement without BEGIN and COMMIT: most of YCSB and Epinions.",
        ),
    ] = False,
    norm: Annotated[
        float,
        typer.Option(
            min=1,
            max=64,
            metavar="P",
            help="Exponent p of the L_p norm of response times.",
            rich_help_panel=ADVANCED,
        ),
    ] = 2.0,
    protocol: Protocol = None,
    option: Setting = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1e9,
            metavar="N",
            help="Refuse data of another scale. Default: accept any.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every transaction of the measured part as Parquet: when it was due, started and ended.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Seed for transaction types, parameters and arrivals. Default: random, printed with the result. "
            "Reusing a seed on the same data repeats the same changes.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Check the workload's consistency conditions on the data, before and after the run.",
            rich_help_panel=ADVANCED,
        ),
    ] = True,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    json: options.Json = None,
    connect_timeout: options.ConnectTimeout = 10.0,
    machine_settings: options.Settings = True,
) -> None:
    """Send a workload's transactions when they are due, and report their times.

    Response time counts from when a transaction was due, service time from when it was sent, so a server that stalls
    shows in the response time. A run that misses its rate by more than 1%, or leaves transactions unsent, is reported
    as invalid, with exit code 1. Ctrl-C ends the run early and keeps its measurements; a second Ctrl-C ends it at once.

    Example: tare bench oltp run tpcc --db postgresql --rate 200 --duration 20s
    """
    from tare.cli import oltp_request as words
    from tare.cli.oltp_call import Call, protocol_of
    from tare.cli.oltp_run import made
    from tare.workload.oltp.request import Isolation, Run

    kind, phases = words.schedule(rate, arrivals, duration)
    action = Run(
        connections=connections,
        arrivals=kind,
        phases=phases,
        warmup_s=warmup,
        drain_s=drain,
        shed_after_s=shed_after,
        mix=words.mix(mix or ()),
        isolation=Isolation[isolation.name],
        tries=tries,
        think=think,
        autocommit=autocommit,
        norm=norm,
        samples=None,
    )
    call = Call(workload, db, lab, dir_, connect_timeout, json, protocol_of(protocol))
    request = call.request(action, words.seed(seed), scale, words.options(option or ()))
    raise typer.Exit(made(call, request, samples, check=check, machine_settings=machine_settings))


@app.command()
def check(
    workload: Named,
    db: Db,
    rows: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, metavar="N", help="Most rows to name for each condition that does not hold."
        ),
    ] = 5,
    protocol: Protocol = None,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    json: options.Json = None,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Check the workload's consistency conditions on the data, and name the rows that violate one.

    The exit code is 1 if a condition does not hold.

    Example: tare bench oltp check tpcc --db postgresql
    """
    from tare.cli.oltp_actions import checked
    from tare.cli.oltp_call import Call, protocol_of

    raise typer.Exit(
        checked(Call(workload, db, lab, dir_, connect_timeout, json, protocol_of(protocol)), rows)
    )


@app.command()
def drop(
    workload: Named,
    db: Db,
    protocol: Protocol = None,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    json: options.Json = None,
    connect_timeout: options.ConnectTimeout = 10.0,
) -> None:
    """Drop the tables of a workload.

    Example: tare bench oltp drop tpcc --db postgresql
    """
    from tare.cli.oltp_actions import dropped
    from tare.cli.oltp_call import Call, protocol_of

    dropped(Call(workload, db, lab, dir_, connect_timeout, json, protocol_of(protocol)))


@app.command()
@needs("report")
def merge(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Two or more runs by id (o3 o4).")],
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
) -> None:
    """Merge runs that several clients made at the same time on one database, and keep the result as a run.

    Start the clients together with the same options but for --rate, --connections and --seed, on one machine or on
    several; then bring their labs together with `tare lab import`. Counts and distributions add up exactly. Runs that
    differ otherwise, repeat a seed or overlap in less than 90% of their schedule are refused.

    Example: tare bench oltp merge o3 o4
    """
    from tare.cli.bench_oltp_report import merge

    raise typer.Exit(merge(runs, lab, html, markdown, json))


@app.command("list")
def list_(json: options.Json = None) -> None:
    """List the workloads: types of transactions with the default mix, meaning of the scale, settings.

    Example: tare bench oltp list
    """
    from tare.cli.oltp_actions import listed

    listed(json)
