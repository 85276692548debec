"""`tare compare`: is B really faster than A?"""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import WORDS
from tare.measure.choices import AnswerRule, CacheState


def compare(
    context: typer.Context,
    db: options.DbOfStatements = None,
    sql: options.SqlOrResults = None,
    file: options.Files = None,
    each: options.Each = False,
    runs: Annotated[
        int, typer.Option(min=2, metavar="N", help="Timed runs of each query; with --until, the fewest.")
    ] = 12,
    until: Annotated[
        str | None,
        typer.Option(metavar="ci=P%", help="Go on until the ratio's 95% interval is within P% either way."),
    ] = None,
    max_runs: Annotated[
        int, typer.Option(min=2, metavar="N", help="With --until: the most runs of each.")
    ] = 200,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the verdict is about: wall_ms, cpu_ms (the leader's), resources.cpu_ms (all processes') or "
            "instructions. Default: resources.cpu_ms when warm, wall_ms otherwise.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the order of runs.")] = 0,
    warmup: options.Warmup = "auto",
    cache: options.Cache = CacheState.WARM,
    cold: options.Cold = False,
    execution_only: options.ExecutionOnly = False,
    answer: options.Answer = AnswerRule.CLOSE,
    timeout: options.Timeout = None,
    setup: options.Setup = None,
    prepare: options.Prepare = None,
    conclude: options.Conclude = None,
    cleanup: options.Cleanup = None,
    verbose: options.Verbose = False,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Json = None,
    csv: options.Csv = None,
    allow_writes: options.AllowWrites = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
) -> None:
    """Compare two queries: runs interleaved in random order, and how sure the difference is. Or compare two results of
    `tare time --json`, query by query: tare compare OLD.json NEW.json

    Gives the ratio with its 95% interval, Mann–Whitney's p and the effect size, and whether the difference lies in
    planning or in execution. The verdict comes from the interval; a run that is watched with --until stops on the
    interval's width, never on a p-value.
    """
    from tare.cli.compare_results import compare_results, result_files
    from tare.cli.output import Outputs, deliver
    from tare.cli.queries import gather
    from tare.cli.request import conditions
    from tare.cli.weighing import Target, weigh
    from tare.errors import UsageError
    from tare.measure.phases import Phases
    from tare.protocol.measures import WALL
    from tare.protocol.rounds import enough
    from tare.protocol.stop import Stop
    from tare.report.asked import Asked
    from tare.report.comparison import COMPARED, TOTAL_CPU

    outputs = Outputs(html, markdown, json, csv, verbose)
    outputs.check()
    if measure is not None and measure not in COMPARED:
        raise UsageError(
            f"--measure {measure}: not a measure that is compared", f"give one of {', '.join(COMPARED)}"
        )
    files = result_files(sql or [], file or [])
    if files is not None:
        compare_results(context, files, measure, outputs)
        return
    if db is None:
        raise UsageError("no database to weigh on", "give its URL with --db, or in TARE_DB")
    queries = gather(context.meta[WORDS], sql, file, db, each=each)
    if len(queries) != 2:
        raise UsageError(
            f"{len(queries)} queries given, and two are compared",
            'name two: -f a.sql -f b.sql, or "SELECT …" "SELECT …"',
        )
    how = conditions(
        runs=runs,
        warmup=warmup,
        cache=cache,
        cold=cold,
        execution_only=execution_only,
        answer=answer,
        timeout=timeout,
        phases=Phases.of(setup, prepare, conclude, cleanup),
        seed=seed,
    )
    stop = Stop.parse(until, runs, max_runs) if until else None
    about = measure or (TOTAL_CPU if how.cache is CacheState.WARM else WALL.name)
    asked = Asked(
        runs=runs,
        cache=how.cache,
        warmup=how.warmup,
        until=stop,
        compare=about,
        tier=tier,
        clocked=how.clocked,
        answer=how.answer,
    )
    weighed = weigh(
        Target(db, connect_timeout, allow_writes, allow_restart, tier, machine_settings),
        queries,
        how,
        asked,
        lambda weigher: weigher.interleaved(
            enough(COMPARED[about], stop, runs), max_runs if stop else 2 * runs
        ),
        quiet=outputs.quiet,
        expected=None if stop else 2 * runs,
    )
    deliver(weighed, outputs)
