"""SQLite in a program's process: transfers between accounts, beside statements that fail in every way there is."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from benchmarks.profile_servers.programs.work import Work, interrupts, main

ACCOUNTS = 1_000
BUSY_S = 0.05
LITTLE_MEMORY = 8 << 20


def connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def transfer(work: Work, file: Path, number: int) -> None:
    draw = random.Random(number)
    with closing(connect(file)) as connection:
        while work.goes_on():
            source, target = draw.sample(range(ACCOUNTS), 2)
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("UPDATE accounts SET balance = balance - 1 WHERE id = ?", [source])
                connection.execute("UPDATE accounts SET balance = balance + 1 WHERE id = ?", [target])
                connection.execute("INSERT INTO ledger VALUES (?)", [number])
                connection.execute("COMMIT")
            except (sqlite3.OperationalError, MemoryError):  # the other thread writes, or the heap is limited
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                work.count("conflict")
                continue
            work.ended("committed")
            with suppress(MemoryError):
                connection.execute("SELECT balance % 7, count(*) FROM accounts GROUP BY 1").fetchall()


def fail(work: Work, file: Path) -> None:
    while work.goes_on():
        with closing(connect(file)) as connection:
            for statement, error in (
                ("SELECT nothing FROM accounts", sqlite3.OperationalError),
                ("SELEC 1", sqlite3.OperationalError),
                ("INSERT INTO accounts VALUES (1, 0)", (sqlite3.IntegrityError, sqlite3.OperationalError)),
                ("SELECT abs(-9223372036854775808)", sqlite3.OperationalError),
                ("SELECT json('{')", sqlite3.OperationalError),
                ("SELECT length(zeroblob(2000000000))", (sqlite3.DataError, sqlite3.OperationalError)),
            ):
                work.expect(error, partial(ask, connection, statement))
            work.expect(sqlite3.OperationalError, lambda: interrupted(connection))
            work.expect(sqlite3.OperationalError, lambda: denied(connection))
            work.expect(MemoryError, out_of_memory)
            unread = connection.execute("SELECT a.id FROM accounts a, accounts b")
            unread.fetchone()
        time.sleep(0.02)


def ask(connection: sqlite3.Connection, statement: str) -> None:
    connection.execute(statement).fetchall()


def interrupted(connection: sqlite3.Connection) -> None:
    with interrupts(connection.interrupt):
        ask(connection, "SELECT count(*) FROM accounts a, accounts b, accounts c WHERE a.id % 7 = c.id % 5")


def denied(connection: sqlite3.Connection) -> None:
    """Ends a statement by the progress handler."""
    connection.set_progress_handler(lambda: 1, 1000)
    try:
        connection.execute("SELECT count(*) FROM accounts a, accounts b, accounts c").fetchall()
    finally:
        connection.set_progress_handler(None, 0)


def out_of_memory() -> None:
    """The limit is the whole process's: a transfer may fail of it as well."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit = {LITTLE_MEMORY}")
        try:
            connection.execute("SELECT length(randomblob(100000000))").fetchall()
        finally:
            connection.execute("PRAGMA hard_heap_limit = 0")


def run(work: Work) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.db"
        with closing(connect(file)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE accounts (id integer PRIMARY KEY, balance integer)")
            connection.executemany("INSERT INTO accounts VALUES (?, 0)", ([one] for one in range(ACCOUNTS)))
            connection.execute("CREATE TABLE ledger (worker integer)")
            work.together(
                lambda: transfer(work, file, 1), lambda: transfer(work, file, 2), lambda: fail(work, file)
            )
            total, rows = connection.execute("SELECT sum(balance), count(*) FROM accounts").fetchone()
            (committed,) = connection.execute("SELECT count(*) FROM ledger").fetchone()
            (intact,) = connection.execute("PRAGMA integrity_check").fetchone()
    return work.checked(
        sum_of_balances=(total, 0),
        accounts=(rows, ACCOUNTS),
        ledger=(committed, work.counts["committed"]),
        integrity_check=(intact, "ok"),
    )


if __name__ == "__main__":
    main(run)
