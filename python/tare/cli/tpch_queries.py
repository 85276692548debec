"""TPC-H's queries and tables, as commands ask for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.measure.query import Query

EMBEDDED = ("sqlite", "duckdb")
LEAST_WAIT_S = 30.0  # for a lock, before the tables are counted


def tpch_queries(
    url: str, numbers: str, scale: float, connect_timeout_s: float, timeout_s: float | None
) -> list[Query]:
    """Return the queries of these numbers, after their tables were loaded unless the database has them.

    Raises UsageError, and what `prepare` raises."""
    chosen(numbers)  # a mistake is found before anything is loaded
    return of_numbers(numbers, prepare(url, scale, connect_timeout_s, timeout_s), scale)


def of_numbers(numbers: str, dbms: str, scale: float) -> list[Query]:
    """Return the queries of these numbers in the dialect of a DBMS. Raises UsageError."""
    from tare.measure.query import Query
    from tare.workload.tpch.queries import query

    return [Query(f"q{number}", query(number, dbms, scale)) for number in chosen(numbers)]


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


def prepare(url: str, scale: float, connect_timeout_s: float, timeout_s: float | None) -> str:
    """Load the tables unless the database has them, and return the name of the DBMS.

    `timeout_s`: of a query; a statement here may wait for a lock as long. Raises UsageError for tables of another
    scale, StillWaiting, and what connecting and loading raise."""
    from tare.dbms.registry import find
    from tare.dbms.url import file_path, scheme_of
    from tare.experiment.target import make_file
    from tare.workload.tpch.tables import ensure_loaded

    scheme = scheme_of(url)
    if scheme in EMBEDDED and not (file := file_path(url)).exists():
        make_file(file, scheme)
    session = find(url).connect(url, timeout_s=connect_timeout_s, allow_writes=True)
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
