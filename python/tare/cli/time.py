"""`tare time`: what does each query cost, apart from the noise?"""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import WORDS
from tare.cli.option_groups import Outputs, RunOptions, ServerOptions, StatementOptions, with_groups


@with_groups
def time(
    context: typer.Context,
    *,
    db: options.Db,
    sql: options.Sql = None,
    file: options.Files = None,
    each: options.Each = False,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each query.")] = 10,
    run_options: RunOptions,
    statement_options: StatementOptions,
    parameter_scan: options.Scan = None,
    parameter_step_size: options.Step = "1",
    parameter_list: options.Values = None,
    outputs: Outputs,
    allow_writes: options.AllowWrites = False,
    server_options: ServerOptions,
) -> None:
    """Weigh queries: what each costs, apart from the noise.

    Prints the wall time, how much of it is planning, the parts that add up to it, the CPU time, and every warning, as
    medians with 95% intervals. With -v also the CPU and I/O of every process that worked for the query, who disturbed
    it, and the conditions.

    Exit code: 0 done, 1 the run failed or was cut short (what was weighed is kept), 2 the request was at fault.
    """
    from tare.cli.output import deliver
    from tare.cli.queries import gather
    from tare.cli.weighing import Target, conditions, weigh
    from tare.report.asked import Asked

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
    how = conditions(runs, run_options, statement_options)
    weighed = weigh(
        [Target(db, server_options, allow_writes)],
        queries,
        how,
        Asked(
            runs=runs,
            cache=how.cache,
            warmup=how.warmup,
            tier=server_options.tier,
            clocked=how.clocked,
            answer=how.answer,
        ),
        lambda weigher: weigher.one_after_another(),
        quiet=outputs.quiet,
        expected=runs * len(queries),
    )
    deliver(weighed, outputs)
