"""`tare bench tpch`: TPC-H's queries on one server, measured as `tare time` measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.option_groups import Outputs, RunOptions, ServerOptions, StatementOptions, with_groups

if TYPE_CHECKING:
    pass


@with_groups
def tpch(
    *,
    db: options.Db,
    queries: Annotated[
        str, typer.Option(metavar="N[,N-N...]", help="Numbers of the queries, such as 1,5-7.")
    ] = "1-22",
    scale: Annotated[
        float, typer.Option(min=0.01, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ] = 0.1,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each query.")] = 10,
    run_options: RunOptions,
    outputs: Outputs,
    server_options: ServerOptions,
) -> None:
    """Measure the 22 queries of TPC-H on one server, as `tare time` does.

    Loads the tables where none of them exists, and makes the file of an embedded DBMS. A query that fails is reported
    with its error, and the others run. Up to scale 1, each answer is compared with DuckDB's.

    Exit code: 0 done, 1 a query failed, an answer is wrong or the run was cut short, 2 the request was at fault.
    """
    from tare.cli.output import deliver
    from tare.cli.tpch_answers import compare_answers
    from tare.cli.tpch_queries import chosen, prepare, report
    from tare.cli.weighing import Target, conditions, weigh
    from tare.measure.query import Query
    from tare.report.asked import Asked
    from tare.workload.tpch.queries import query

    outputs.check()
    numbers = chosen(queries)
    how = conditions(runs, run_options, StatementOptions(), keeps_going=True)
    target = Target(db, server_options)
    dbms = prepare(db, scale, server_options.connect_timeout, run_options.timeout)
    asked = Asked(
        runs=runs, cache=how.cache, warmup=how.warmup, tier=server_options.tier, clocked=how.clocked
    )
    weighed = weigh(
        [target],
        [Query(f"Q{number}", query(number, dbms, scale)) for number in numbers],
        how,
        asked,
        lambda weigher: weigher.one_after_another(),
        quiet=outputs.quiet,
        expected=runs * len(numbers),
    )
    deliver(compare_answers(weighed, target, asked, numbers, scale, run_options.timeout, report), outputs)
