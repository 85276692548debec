"""`tare bench oltp curve`: latency over requested rate, and the highest rate within a budget."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.bench_oltp import Level, Named, Setting
from tare.cli.experiment_run import Dir

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
        str, typer.Option(metavar="DURATION", help="Length of the measured part of each step.")
    ] = "20s",
    max_: Annotated[
        str | None,
        typer.Option(
            "--max",
            metavar="DURATION",
            help="Begin no step that would end later than this. Default: 20m with --find-limit, else none.",
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Number of connections to each server.")
    ] = 64,
    arrivals: Annotated[
        str, typer.Option(metavar="poisson|constant", help="Distribution of arrivals.")
    ] = "poisson",
    warmup: Annotated[
        str, typer.Option(metavar="DURATION", help="Load before the measured part of each step, at its rate.")
    ] = "5s",
    drain: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="Time after each step's schedule for transactions that are due and not started.",
        ),
    ] = "5s",
    precision: Annotated[
        str,
        typer.Option(
            metavar="PERCENT",
            help="Distance of neighbouring rates in a search without --rates.",
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
            metavar="read-committed|repeatable-read|serializable",
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
        ),
    ] = 3,
    option: Setting = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue the curve that this run of the lab is a step of (o3), with the same options.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Check the workload's conditions on the data, before the first step and after the last one.",
        ),
    ] = True,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
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
    from tare.cli import oltp_request, values
    from tare.cli.curve_run import CurveCall, take
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
    duration_s = values.long_enough(duration, "--duration")
    if find_limit is not None and duration_s < words.LEAST_S:
        raise UsageError(
            f"--duration {duration}: too short for a search, which needs intervals",
            f"give at least {words.LEAST_S:g}s",
        )
    budget = None if find_limit is None else words.parse_limit(find_limit)
    distance = words.precision(precision)
    candidates, start = (words.rates(rates or ""), 0) if budget is None else words.candidates(rates, distance)
    if arrivals not in ("poisson", "constant"):
        raise UsageError(f"--arrivals {arrivals}: a curve needs rates", "choose poisson or constant")
    kind, _ = oltp_request.schedule("1", arrivals, duration)
    action = Run(
        connections=connections,
        arrivals=kind,
        phases=(Phase(rate=candidates[start], duration_s=duration_s),),
        warmup_s=values.duration(warmup, "--warmup"),
        drain_s=values.duration(drain, "--drain"),
        shed_after_s=None,
        mix=oltp_request.mix(mix or ()),
        isolation=Isolation[isolation.name],
        tries=tries,
        think=0.0,
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
        most_s=values.long_enough(max_, "--max") if max_ else 1200.0 if budget else None,
        action=action,
        options=oltp_request.options(option or ()),
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
