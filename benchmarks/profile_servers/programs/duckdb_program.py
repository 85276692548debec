"""DuckDB in a program's process: transfers between accounts, beside statements that fail in every way there is."""

from __future__ import annotations

import random
import time
from functools import partial

import duckdb

from benchmarks.profile_servers.programs.work import Work, interrupts, main

ACCOUNTS = 1_000
LITTLE_MEMORY = "20MB"
LONG = "SELECT count(*) FROM range(200000) a, range(200000) b WHERE a.range % 7 = b.range % 5"
MANY = "SELECT string_agg(range::varchar || repeat('x', 100), '') FROM range(1000000)"


def transfer(work: Work, database: duckdb.DuckDBPyConnection, number: int) -> None:
    connection, draw = database.cursor(), random.Random(number)
    while work.goes_on():
        source, target = draw.sample(range(ACCOUNTS), 2)
        try:
            connection.execute("BEGIN")
            connection.execute("UPDATE accounts SET balance = balance - 1 WHERE id = ?", [source])
            connection.execute("UPDATE accounts SET balance = balance + 1 WHERE id = ?", [target])
            connection.execute("INSERT INTO ledger VALUES (?)", [number])
            connection.execute("COMMIT")
        except duckdb.TransactionException:  # two transfers of one account
            connection.execute("ROLLBACK")
            work.count("conflict")
        else:
            work.ended("committed")
        connection.execute("SELECT balance % 7, count(*) FROM accounts GROUP BY 1").fetchall()


def fail(work: Work, database: duckdb.DuckDBPyConnection) -> None:
    connection = database.cursor()
    small = duckdb.connect(config={"memory_limit": LITTLE_MEMORY, "temp_directory": ""})
    statements = (
        ("SELECT error('no such order')", duckdb.InvalidInputException),
        ("SELECT nothing FROM accounts", duckdb.BinderException),
        ("SELEC 1", duckdb.ParserException),
        ("SELECT * FROM no_such_table", duckdb.CatalogException),
        ("INSERT INTO accounts VALUES (1, 0)", duckdb.ConstraintException),
        ("SELECT CAST('seven' AS integer)", duckdb.ConversionException),
        ("SELECT 9223372036854775807 + id FROM accounts", duckdb.OutOfRangeException),
    )
    while work.goes_on():
        for statement, error in statements:
            work.expect(error, partial(ask, connection, statement))
        work.expect(duckdb.OutOfMemoryException, partial(ask, small, MANY))
        work.expect(duckdb.InterruptException, lambda: interrupted(database))
        leave_unread(database)
        time.sleep(0.02)


def ask(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    connection.execute(statement).fetchall()


def interrupted(database: duckdb.DuckDBPyConnection) -> None:
    connection = database.cursor()
    try:
        with interrupts(connection.interrupt):
            ask(connection, LONG)
    finally:
        connection.close()


def leave_unread(database: duckdb.DuckDBPyConnection) -> None:
    """Closes a connection whose result was not read."""
    connection = database.cursor()
    connection.execute("SELECT * FROM range(1000000)").fetchone()
    connection.close()


def run(work: Work) -> list[str]:
    database = duckdb.connect(config={"threads": 2})
    database.execute(
        f"CREATE TABLE accounts AS SELECT range::integer AS id, 0 AS balance FROM range({ACCOUNTS})"
    )
    database.execute("ALTER TABLE accounts ADD PRIMARY KEY (id)")
    database.execute("CREATE TABLE ledger (worker integer)")
    work.together(
        lambda: transfer(work, database, 1), lambda: transfer(work, database, 2), lambda: fail(work, database)
    )
    total, rows = database.execute("SELECT sum(balance), count(*) FROM accounts").fetchone() or (None, None)
    (committed,) = database.execute("SELECT count(*) FROM ledger").fetchone() or (None,)
    return work.checked(
        sum_of_balances=(total, 0), accounts=(rows, ACCOUNTS), ledger=(committed, work.counts["committed"])
    )


if __name__ == "__main__":
    main(run)
