"""`tare bench tpch`: TPC-H's queries on one server, measured as `tare time` measures."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.option_groups import Outputs, RunOptions, ServerOptions, StatementOptions, with_groups
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cli.weighing import Target

EMBEDDED = ("sqlite", "duckdb")
LEAST_WAIT_S = 30.0  # for a lock, before the tables are counted


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
    from tare.cli.request import conditions
    from tare.cli.tpch_answers import compare_answers
    from tare.cli.weighing import Target, weigh
    from tare.measure.query import Query
    from tare.report.asked import Asked
    from tare.workload.tpch.queries import query

    outputs.check()
    numbers = chosen(queries)
    how = conditions(runs, run_options, StatementOptions(), keeps_going=True)
    target = Target(db, server_options)
    dbms = prepare(target, scale, run_options.timeout)
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


def chosen(text: str) -> list[int]:
    """Return the query numbers that the text lists, in its order and without repetition. Raises UsageError."""
    from tare.workload.tpch.queries import NUMBERS

    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        ends = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdigit() and int(end) in NUMBERS for end in ends):
            raise UsageError(
                f"--queries {text}: {part.strip() or 'nothing'} is no query of TPC-H",
                "give numbers from 1 to 22, or ranges of them: --queries 1,5-7",
            )
        if int(ends[0]) > int(ends[1]):
            raise UsageError(f"--queries {text}: {part.strip()} is empty", "give the smaller number first")
        numbers += range(int(ends[0]), int(ends[1]) + 1)
    return list(dict.fromkeys(numbers))


def prepare(target: Target, scale: float, timeout_s: float | None) -> str:
    """Load the tables unless the database has them, and return the name of the DBMS.

    `timeout_s`: of a query; a statement here may wait for a lock as long. Raises UsageError for tables of another
    scale, StillWaiting, and what connecting and loading raise."""
    from tare.dbms.url import file_path, scheme_of
    from tare.experiment.target import make_file
    from tare.workload.tpch.tables import ensure_loaded

    scheme = scheme_of(target.url)
    if scheme in EMBEDDED and not (file := file_path(target.url)).exists():
        make_file(file, scheme)
    session = dataclasses.replace(target, allow_writes=True).connect()
    session.limit_waits(max(timeout_s or 0.0, LEAST_WAIT_S), report)
    try:
        ensure_loaded(session, scale, report)
        return session.server.dbms
    finally:
        session.close()


def report(what: str) -> None:
    """Print what is done next, on a terminal only."""
    if sys.stderr.isatty():
        typer.echo(f"{what} …", err=True)
