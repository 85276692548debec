"""`tare bench`: whole benchmarks."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import bench_oltp, bench_oltp_curve, bench_tpch, options
from tare.cli.command import Commands
from tare.cli.experiment_run import AsJson, Dir, Events
from tare.lab.ids import experiment_id
from tare.workload.wisconsin.kinds import Generation

app = Commands(help="Run whole benchmarks.", no_args_is_help=True)

Dbs = Annotated[
    list[str],
    typer.Option(
        "--db",
        metavar="URL|NAME",
        callback=options.urls,
        help="A database, best an empty one; or postgresql, mariadb, sqlite, duckdb: Tare makes and starts it. "
        "Repeatable.",
    ),
]


@app.command()
def wisconsin(
    db: Dbs,
    generation: Annotated[
        list[Generation] | None,
        typer.Option(
            "--generation",
            help="1983: the paper's own; 1993: the 32 queries. Repeatable. Default: both, where they have "
            "what is asked for.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(
            metavar="N[,N…]", help="Tuples of the large relations of 1993; 1983 has 10,000 and no other."
        ),
    ] = "10000",
    organisation: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME…]", help="heap, clustered, nonclustered, hash: how tuples are found."
        ),
    ] = "heap,clustered,nonclustered,hash",
    query: Annotated[
        list[str] | None,
        typer.Option("--query", metavar="NAME", help="Only this query, or class of them. Repeatable."),
    ] = None,
    qes: Annotated[
        int, typer.Option("--qes", min=1, max=10_000, help="Executions of each query; it has ten variants.")
    ] = 10,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop tables of the benchmark's names that Tare did not make.")
    ] = False,
    lab: options.Lab = "lab.db",
    dir_: Dir = None,
    progress_json: Events = None,
    json: AsJson = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Run the Wisconsin benchmark: one run for each DBMS and generation, every execution kept in the lab.

    Each answer is held against the query's definition, and what an update changed is put back; a wrong answer
    fails the run. A run that was paused goes on with: tare experiment resume RUN

    Exit code: 0 done, 1 a run paused or failed, 2 the request was at fault, 130 Ctrl-C, 143 SIGTERM.
    """
    from functools import partial

    from tare.cli.experiment_session import Session
    from tare.cli.wisconsin_request import Request, made_ready
    from tare.dbms.url import redacted
    from tare.measure.choices import CacheState

    request = Request(
        databases=db,
        generations=generation,
        rows=rows,
        organisations=organisation,
        queries=query or [],
        qes=qes,
        cache=CacheState.COLD if cold else CacheState.WARM,
        timeout_s=timeout,
    )
    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    code, runs = session.run_each(request.specifications(), first=partial(made_ready, replace))
    if code == 0 and not json:
        numbers = " ".join(map(experiment_id, runs))
        where = f" --lab {redacted(lab)}" if lab != "lab.db" else ""
        typer.echo(f"its tables and charts: tare bench report {numbers}{where} --html wisconsin.html")
    raise typer.Exit(code)


app.command()(bench_tpch.tpch)


@app.command()
def report(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
    accept: options.Accept = None,
) -> None:
    """Report runs of `tare bench wisconsin`: the paper's tables with today's systems beside those of 1983.

    Give the runs of as many DBMSes, generations and sizes as belong side by side. LAB may also be the folder
    of an export. Without --html, --markdown or --json the findings are printed.

    Exit codes: 0 done; 1 the lab or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.wisconsin.build import make
    from tare.report.wisconsin.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, runs, accept=accept or (), title=title)
    if built.report.exact.stopped:
        typer.echo(
            f"tare: the exact protocol was stopped: {built.report.exact.stopped}\n"
            "  next: mend the runs, or take the violation as a deviation: --accept CHECK",
            err=True,
        )
    deliver(story(built), built.report, given)


bench_oltp.app.command()(bench_oltp_curve.curve)
app.add_typer(bench_oltp.app, name="oltp")
