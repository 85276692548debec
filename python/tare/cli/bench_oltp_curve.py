"""`tare bench oltp curve`: latency over requested rate, and the highest rate within a budget."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.bench_oltp import Level, Named, Protocol, Setting
from tare.cli.command import needs
from tare.cli.help import ADVANCED, PHASES

Dbs = Annotated[
    list[str],
    typer.Option(
        "--db",
        envvar="TARE_DB",
        metavar="URL|NAME",
        callback=options.urls,
        help="Database that holds the loaded workload, as for `run`. Repeatable: servers take turns step by step, and "
        "share one figure.",
    ),
]


@needs("report")
def curve(
    workload: Named,
    db: Dbs,
    rates: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LAST:STEP|RATE,...",
            help="Rates to request, in transactions a second: 100..2000:100, or 100,200,400. With --find-limit: rates "
            "among which the search chooses.",
        ),
    ] = None,
    find_limit: Annotated[
        str | None,
        typer.Option(
            metavar="FIGURE=DURATION",
            help="Search for the highest rate at which this figure of response time stays below the duration: "
            "p99=50ms. Figures: p50, p95, p99, p99.9, mean.",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            metavar="N",
            help="Steps at each rate. The second is taken in mirrored order. Default: 2. A search repeats by itself.",
        ),
    ] = None,
    duration: Annotated[
        float, options.duration("--duration", "Length of the measured part of each step.", least=1.0)
    ] = 20.0,
    max_: Annotated[
        float | None,
        options.duration(
            "--max",
            "Begin no step that would end later than this. Default: 20m with --find-limit, else none.",
            least=1.0,
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Number of connections to each server.")
    ] = 64,
    arrivals: Annotated[
        str, typer.Option(metavar="poisson|constant", help="Distribution of arrivals.")
    ] = "poisson",
    warmup: Annotated[
        float,
        options.duration(
            "--warmup", "Load before the measured part of each step, at its rate.", panel=PHASES
        ),
    ] = 5.0,
    drain: Annotated[
        float,
        options.duration(
            "--drain",
            "Time after each step's schedule for transactions that are due and not started.",
            panel=PHASES,
        ),
    ] = 5.0,
    precision: Annotated[
        str,
        typer.Option(
            metavar="PERCENT",
            help="Distance of neighbouring rates in a search without --rates.",
            rich_help_panel=ADVANCED,
        ),
    ] = "5%",
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
    autocommit: Annotated[
        bool,
        typer.Option("--autocommit", help="Send a transaction of one statement without BEGIN and COMMIT."),
    ] = False,
    protocol: Protocol = None,
    option: Setting = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue the curve that this run of the lab is a step of (o3), with the same options.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Check the workload's conditions on the data, before the first step and after the last one.",
            rich_help_panel=ADVANCED,
        ),
    ] = True,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    csv: options.Csv = None,
    title: options.Title = None,
    connect_timeout: options.ConnectTimeout = 10.0,
    machine_settings: options.Settings = True,
) -> None:
    """Measure latency over requested rate, or find the highest rate within a budget.

    Each step is an open-loop run at one rate, kept in the lab. A step that misses its rate, whose backlog grows or that
    changes regime is over capacity and no result. Ctrl-C keeps the finished steps; --resume continues.

    The exit code is 1 if no step was sustained, a search did not end, a step had no result, or a condition on the data
    does not hold.

    Example: tare bench oltp curve tpcc --db postgresql --find-limit p99=50ms --max 10m
    """
    from tare.cli import curve_request as words
    from tare.cli import oltp_request
    from tare.cli.curve_run import CurveCall, take
    from tare.cli.oltp_call import protocol_of
    from tare.errors import UsageError
    from tare.workload.oltp.request import Isolation, Phase, Run

    if rates is None and find_limit is None:
        raise UsageError(
            "neither --rates nor --find-limit is given",
            "write --rates 100..2000:100, or --find-limit p99=50ms",
        )
    if find_limit is not None and repeats is not None:
        raise UsageError(
            "--repeats does not apply to a search, which repeats steps by itself", "leave it out"
        )
    if find_limit is not None and duration < words.LEAST_S:
        raise UsageError(
            f"--duration {duration:g}s: too short for a search, which needs intervals",
            f"give at least {words.LEAST_S:g}s",
        )
    budget = None if find_limit is None else words.parse_limit(find_limit)
    distance = words.precision(precision)
    candidates, start = (words.rates(rates or ""), 0) if budget is None else words.candidates(rates, distance)
    kind, _ = oltp_request.schedule("1", arrivals, duration)
    if kind.kind not in ("poisson", "constant"):
        raise UsageError(f"--arrivals {arrivals}: a curve needs rates", "choose poisson or constant")
    action = Run(
        connections=connections,
        arrivals=kind,
        phases=(Phase(rate=candidates[start], duration_s=duration),),
        warmup_s=warmup,
        drain_s=drain,
        shed_after_s=None,
        mix=oltp_request.mix(mix or ()),
        isolation=Isolation[isolation.name],
        tries=tries,
        think=0.0,
        autocommit=autocommit,
        norm=2.0,
        samples=None,
    )
    call = CurveCall(
        workload=workload,
        dbs=tuple(db),
        rates=candidates,
        start=start,
        limit=budget,
        repeats=repeats or 2,
        most_s=max_ if max_ is not None else 1200.0 if budget else None,
        action=action,
        options=oltp_request.options(option or ()),
        protocol=protocol_of(protocol),
        resume=resume,
        check=check,
        lab=lab,
        dir=dir_,
        given={"html": html, "markdown": markdown, "json": json, "csv": csv},
        title=title,
        connect_timeout_s=connect_timeout,
        machine_settings=machine_settings,
    )
    raise typer.Exit(take(call))
