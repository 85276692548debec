"""`tare time`: what does each query cost, apart from the noise?"""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import WORDS
from tare.measure.choices import AnswerRule, CacheState


def time(
    context: typer.Context,
    db: options.Db,
    sql: options.Sql = None,
    file: options.Files = None,
    each: options.Each = False,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each query.")] = 10,
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
    parameter_scan: options.Scan = None,
    parameter_step_size: options.Step = "1",
    parameter_list: options.Values = None,
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
    """Weigh queries: what each costs, apart from the noise.

    Prints the wall time, how much of it is planning, the parts that add up to it, the CPU time, and every warning, as
    medians with 95% intervals. With -v also the CPU and I/O of every process that worked for the query, who disturbed
    it, and the conditions.

    Exit code: 0 done, 1 the run failed or was cut short (what was weighed is kept), 2 the request was at fault.
    """
    from tare.cli.output import Outputs, deliver
    from tare.cli.queries import gather
    from tare.cli.request import conditions
    from tare.cli.weighing import Target, weigh
    from tare.measure.phases import Phases
    from tare.report.asked import Asked

    outputs = Outputs(html, markdown, json, csv, verbose)
    outputs.check()
    queries = gather(
        context.meta[WORDS],
        sql,
        file,
        db,
        each=each,
        parameter_scan=parameter_scan,
        step=parameter_step_size,
        lists=parameter_list,
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
    )
    weighed = weigh(
        [Target(db, connect_timeout, allow_writes, allow_restart, tier, machine_settings)],
        queries,
        how,
        Asked(
            runs=runs,
            cache=how.cache,
            warmup=how.warmup,
            tier=tier,
            clocked=how.clocked,
            answer=how.answer,
        ),
        lambda weigher: weigher.one_after_another(),
        quiet=outputs.quiet,
        expected=runs * len(queries),
    )
    deliver(weighed, outputs)
