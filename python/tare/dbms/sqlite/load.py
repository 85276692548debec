"""Rows of a CSV file into an SQLite table: one prepared INSERT, all its executions in one transaction.

SQLite keeps what does not fit a column's type as it is, so a text among integers would go unnoticed: the
types of what is stored are looked at before the transaction is committed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tare.dbms.loading import csv_rows
from tare.dbms.sqlite.failures import failure
from tare.errors import StatementFailed


def load(connection: sqlite3.Connection, table: str, file: Path, interrupted: Callable[[], bool]) -> int:
    """How many rows it took. Raises what `failure` makes of SQLite's errors, and StatementFailed."""
    try:
        columns = _columns(connection, table)
        marks = ",".join("?" * len(columns))
        connection.execute("BEGIN IMMEDIATE")
        try:
            strangers = _strangers(connection, table, columns)
            with closing(csv_rows(file, len(columns))) as rows:
                count = connection.executemany(
                    f"INSERT INTO {table} VALUES ({marks})", _until(interrupted, rows)
                ).rowcount
            _refuse_new(strangers, _strangers(connection, table, columns))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite itself rolls back when the disk is full
                connection.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise failure(error) from None
    except OSError as error:
        raise StatementFailed(f"{file} could not be read: {error.strerror or error}") from error
    return max(0, count)


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """The declared type of each column that can be inserted into; SQLite refuses a table that is not there."""
    connection.execute(f"SELECT 1 FROM {table} WHERE 0")
    schema, _, name = table.replace('"', "").rpartition(".")
    found = connection.execute(
        "SELECT name, upper(type) FROM pragma_table_xinfo(?, ?) WHERE hidden = 0", (name, schema or None)
    )
    return dict(found.fetchall())


def _strangers(connection: sqlite3.Connection, table: str, columns: dict[str, str]) -> dict[str, int]:
    """By column of a number type: values that are none."""
    numeric = [name for name, type_ in columns.items() if any(word in type_ for word in _NUMBERS)]
    if not numeric:
        return {}
    counts = ", ".join(f"coalesce(sum(typeof(\"{name}\") = 'text'), 0)" for name in numeric)
    return dict(zip(numeric, connection.execute(f"SELECT {counts} FROM {table}").fetchone(), strict=True))


_NUMBERS = ("INT", "REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")


def _refuse_new(before: dict[str, int], after: dict[str, int]) -> None:
    for name, count in after.items():
        if count > before[name]:
            raise StatementFailed(f"{count - before[name]:,} values for the column {name} are no numbers")


def _until(
    interrupted: Callable[[], bool], rows: Iterator[Sequence[str | None]]
) -> Iterator[Sequence[str | None]]:
    """SQLite's own interrupt ends the one INSERT that is running, if any."""
    for row in rows:
        if interrupted():
            raise StatementFailed("the load was interrupted")
        yield row
