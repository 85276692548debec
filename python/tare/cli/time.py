"""`tare time`: what does each query cost, apart from the noise?"""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.help import OUTPUT
from tare.measure.choices import AnswerRule, CacheState


def time(
    db: options.Db,
    sql: options.Sql = None,
    file: options.Files = None,
    each: Annotated[
        bool, typer.Option("--each", help="Weigh every statement of each file, one query each.")
    ] = False,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each query.")] = 10,
    warmup: options.Warmup = "auto",
    cache: options.Cache = CacheState.WARM,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    answer: options.Answer = AnswerRule.CLOSE,
    setup: options.Setup = None,
    prepare: options.Prepare = None,
    conclude: options.Conclude = None,
    cleanup: options.Cleanup = None,
    parameter_scan: options.Scan = None,
    parameter_step_size: options.Step = "1",
    parameter_list: options.Values = None,
    lab: Annotated[
        str | None,
        typer.Option(
            "--lab",
            metavar="FILE|URL",
            help="Record the samples of each query in this lab, too, for `tare trend`.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    code: Annotated[
        str | None,
        typer.Option(
            "--commit",
            metavar="SHA|auto",
            help="Commit that is measured, recorded with --lab. auto: that of the working directory, by git.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    csv: options.Csv = None,
    format_: options.Formats = None,
    allow_writes: options.AllowWrites = False,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
    verbose: options.Verbose = False,
) -> None:
    """Measure what each query costs, apart from the noise of the machine.

    Prints the wall time and the parts that add up to it, the CPU and I/O of every process that worked for the
    query, and the processes that disturbed it. Each figure is a median with its 95% interval. A run that fails or is
    interrupted keeps what it has measured.

    Example: tare time "SELECT count(*) FROM t" --db sqlite:///f.db --runs 20
    """
    from tare.cli.output import Outputs, deliver, parse_formats
    from tare.cli.recording import Recording
    from tare.cli.request import conditions, gather
    from tare.cli.weighing import Target, weigh
    from tare.measure.phases import Phases
    from tare.report.asked import Asked

    outputs = Outputs(html, markdown, json, csv, parse_formats(format_))
    outputs.check()
    recording = Recording.of(lab, code)
    queries = gather(sql, file, parameter_scan, parameter_step_size, parameter_list, db=db, each=each)
    how = conditions(
        runs=runs,
        warmup=warmup,
        cache=cache,
        cold=cold,
        timeout=timeout,
        answer=answer,
        phases=Phases.of(setup, prepare, conclude, cleanup),
    )
    weighed = weigh(
        [Target(db, connect_timeout, allow_writes, allow_restart, tier, machine_settings)],
        queries,
        how,
        Asked(runs=runs, cache=how.cache, warmup=how.warmup, tier=tier, answer=answer),
        lambda weigher: weigher.one_after_another(),
        quiet=outputs.quiet,
        expected=runs * len(queries),
    )
    is_recorded = recording is None or recording.keep(weighed.result)
    deliver(weighed, outputs, verbose=verbose)
    if not is_recorded:
        raise typer.Exit(1)
