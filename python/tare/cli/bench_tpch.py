"""`tare bench tpch`: TPC-H's queries on one server, measured as `tare time` measures."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.errors import QueryTimeout, StatementFailed, TareError, UsageError
from tare.measure.choices import CacheState

if TYPE_CHECKING:
    from tare.cli.weighing import Target, Weighed
    from tare.report.asked import Asked
    from tare.report.result import QueryResult, RunResult
    from tare.report.warnings import AnswersUnchecked

EMBEDDED = ("sqlite", "duckdb")


def tpch(
    db: options.Db,
    queries: Annotated[
        str, typer.Option(metavar="N[,N-N...]", help="Numbers of the queries, such as 1,5-7.")
    ] = "1-22",
    scale: Annotated[
        float, typer.Option(min=0.01, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ] = 0.1,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each query.")] = 10,
    warmup: options.Warmup = "auto",
    cache: options.Cache = CacheState.WARM,
    cold: options.Cold = False,
    timeout: options.Timeout = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    csv: options.Csv = None,
    allow_restart: options.AllowRestart = False,
    connect_timeout: options.ConnectTimeout = 10.0,
    tier: options.TierFlag = None,
    machine_settings: options.Settings = True,
    verbose: options.Verbose = False,
) -> None:
    """Measure the 22 queries of TPC-H on one server, as `tare time` does.

    Loads the tables where none of them exists, and makes the file of an embedded DBMS. A query that fails is reported
    with its error, and the others run. Up to scale 1, each answer is compared with DuckDB's.

    Example: tare bench tpch --db postgresql://localhost/tpch --queries 1,5-7
    """
    from tare.cli.output import Outputs, deliver
    from tare.cli.request import conditions
    from tare.cli.weighing import Target, weigh
    from tare.dbms.url import scheme_of
    from tare.measure.phases import Phases
    from tare.measure.query import Query
    from tare.report.asked import Asked
    from tare.workload.tpch.queries import query

    outputs = Outputs(html, markdown, json, csv)
    outputs.check()
    numbers = chosen(queries)
    terms = conditions(
        runs=runs,
        warmup=warmup,
        cache=cache,
        cold=cold,
        timeout=timeout,
        phases=Phases.of(None, None, None, None),
    )
    target = Target(db, connect_timeout, False, allow_restart, tier, machine_settings)
    dbms = prepare(target, scheme_of(db), scale)
    asked = Asked(runs=runs, cache=terms.cache, warmup=terms.warmup, tier=tier)
    weighed = weigh(
        [target],
        [Query(f"Q{number}", query(number, dbms, scale)) for number in numbers],
        dataclasses.replace(terms, keeps_going=True),
        asked,
        lambda weigher: weigher.one_after_another(),
        quiet=outputs.quiet,
        expected=runs * len(numbers),
    )
    deliver(_check_answers(weighed, target, asked, numbers, scale, dbms, timeout), outputs, verbose=verbose)


def chosen(text: str) -> list[int]:
    """Query numbers that the text lists, in its order and without repetition. Raises UsageError."""
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


def prepare(target: Target, scheme: str, scale: float) -> str:
    """Name of the DBMS, whose database has the tables of the scale after this. Raises what loading raises."""
    from tare.dbms.url import file_path
    from tare.experiment.target import make_file
    from tare.workload.tpch.tables import ensure_loaded

    if scheme in EMBEDDED and not (file := file_path(target.url)).exists():
        make_file(file, scheme)
    session = dataclasses.replace(target, allow_writes=True).connect()
    try:
        ensure_loaded(session, scale, _say)
        return session.server.dbms
    finally:
        session.close()


def _say(what: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"{what} …", err=True)


# Answers ---------------------------------------------------------------------------------
def _check_answers(
    weighed: Weighed,
    target: Target,
    asked: Asked,
    numbers: Sequence[int],
    scale: float,
    dbms: str,
    timeout_s: float | None,
) -> Weighed:
    """The result with each answer compared. Runs each measured query once more, after all timed runs."""
    from tare.cli.weighing import Weighed
    from tare.report.warnings import AnswersUnchecked
    from tare.workload.tpch.reference import difference, reference

    result = weighed.result
    if weighed.stopped_by is not None or all(one.outcome == "failed" for one in result.results):
        return weighed
    if (unchecked := _unchecked(scale, dbms)) is not None:
        return dataclasses.replace(weighed, result=_with_warning(result, unchecked, asked))
    _say("comparing the answers with DuckDB's")
    checked: list[QueryResult] = []
    try:
        with reference(scale) as source:
            session = target.connect()
            try:
                for number, one in zip(numbers, result.results, strict=True):
                    try:
                        how = None
                        if one.outcome != "failed":
                            how = difference(session, source, number, scale, timeout_s)
                    except (QueryTimeout, StatementFailed) as error:
                        checked.append(_with_error(one, f"its answer could not be compared: {error.what}"))
                    else:
                        checked.append(_compared(one, how))
            finally:
                session.close()
    except TareError as error:
        warning = AnswersUnchecked(None, error.what, error.next_step)
        return dataclasses.replace(weighed, result=_with_warning(result, warning, asked))
    except KeyboardInterrupt as interrupt:
        warning = AnswersUnchecked(None, "the comparison was interrupted", "run again")
        return Weighed(_with_warning(result, warning, asked), interrupt)
    return dataclasses.replace(weighed, result=result.model_copy(update={"results": checked}))


def _compared(query: QueryResult, how: str | None) -> QueryResult:
    from tare.workload.tpch.reference import SECOND_SOURCE

    if query.outcome == "failed":
        return query
    if how is None:
        answer = query.answer.model_copy(update={"second_source": SECOND_SOURCE})
        return query.model_copy(update={"answer": answer})
    return _with_error(query, f"its answer differs from {SECOND_SOURCE}'s: {how}")


def _with_error(query: QueryResult, error: str) -> QueryResult:
    """The result with the error, unless it has one already."""
    return query if query.error is not None else query.model_copy(update={"error": error})


def _unchecked(scale: float, dbms: str) -> AnswersUnchecked | None:
    from tare.report.warnings import AnswersUnchecked
    from tare.workload.tpch.reference import LARGEST_SCALE, SECOND_SOURCE

    if dbms == SECOND_SOURCE.lower():
        return AnswersUnchecked(
            None,
            f"{SECOND_SOURCE} is the second source itself",
            "run another DBMS, whose answers are compared",
        )
    if scale > LARGEST_SCALE:
        return AnswersUnchecked(
            None,
            f"Tare compares answers up to scale {LARGEST_SCALE:g}; this is {scale:g}",
            f"run once with --scale {LARGEST_SCALE:g} --runs 1",
        )
    return None


def _with_warning(result: RunResult, warning: AnswersUnchecked, asked: Asked) -> RunResult:
    from tare.report.build import warning_result

    return result.model_copy(update={"warnings": [*result.warnings, warning_result(warning, asked)]})
