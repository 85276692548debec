"""`tare bench`: whole benchmarks, whose runs the lab keeps."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import bench_oltp, bench_oltp_curve, bench_tpch, options
from tare.cli.bench_report import report
from tare.cli.command import Commands, needs
from tare.cli.experiment_run import Events, State
from tare.cli.help import ADVANCED
from tare.workload.wisconsin.kinds import Generation

app = Commands(
    help="Run whole benchmarks.\n\nExample: tare bench wisconsin --db sqlite --db duckdb",
    no_args_is_help=True,
)

Dbs = Annotated[
    list[str],
    typer.Option(
        "--db",
        metavar="URL|NAME",
        callback=options.urls,
        help="Database to run on, best an empty one; or postgresql, mariadb, sqlite, duckdb, which Tare makes and "
        "starts. Repeatable.",
    ),
]


@app.command()
@needs("report")
def wisconsin(
    db: Dbs,
    generation: Annotated[
        list[Generation] | None,
        typer.Option(
            "--generation",
            metavar=options.choices(Generation),
            help="Queries of the paper of 1983, or the 32 of 1993. Repeatable. Default: both, where they have the "
            "queries and organisations that are named.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(
            metavar="N[,N...]",
            help="Tuples in the large relations of 1993; those of 1983 always have 10,000.",
        ),
    ] = "10000",
    organisation: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME...]",
            help="Organisations of the relations: heap, clustered, nonclustered, hash.",
        ),
    ] = "heap,clustered,nonclustered,hash",
    query: Annotated[
        list[str] | None,
        typer.Option("--query", metavar="NAME", help="Run only this query, or class of queries. Repeatable."),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, metavar="N", help="Timed executions of each query, which has ten variants."
        ),
    ] = 10,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Drop tables of the benchmark's names that Tare did not make.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    lab: options.Lab = "lab.db",
    dir_: options.Dir = None,
    progress_json: Events = None,
    json: State = None,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Run the Wisconsin benchmark: one run for each DBMS and generation. The lab keeps every execution.

    Each answer is checked against the query's definition, and changes of an update are put back. A wrong answer fails
    the run. To continue a paused run: tare experiment resume RUN

    Example: tare bench wisconsin --db postgresql --db sqlite --lab lab.db
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
        qes=runs,
        cache=CacheState.COLD if cold else CacheState.WARM,
        timeout_s=timeout,
    )
    session = Session(lab, dir_, progress_json, json, allow_restart, connect_timeout, tier, machine_settings)
    code, run_ids = session.run_each(request.specifications(), first=partial(made_ready, replace))
    if code == 0 and json is None:
        ids = " ".join(f"e{run_id}" for run_id in run_ids)
        where = f" --lab {redacted(lab)}" if lab != "lab.db" else ""
        typer.echo(f"for its tables and charts: tare bench report {ids}{where} --html wisconsin.html")
    raise typer.Exit(code)


app.command()(bench_tpch.tpch)
app.command()(report)
bench_oltp.app.command()(bench_oltp_curve.curve)
app.add_typer(bench_oltp.app, name="oltp")
