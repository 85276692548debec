"""What SQLite's errors are to a user."""

from __future__ import annotations

import sqlite3

from tare.errors import BadStatement, StatementFailed, TareError, WriteRefused


def is_busy(error: sqlite3.Error) -> bool:
    """Another connection holds a lock for longer than SQLite waits."""
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def busy(error: sqlite3.Error, holders: str) -> tuple[str, str]:
    """What a lock that SQLite did not get is to a user, and the next step. `holders` names who has it, if known."""
    return (
        f"SQLite waited for a lock, and gave up: {error}" + (f", by {holders}" if holders else ""),
        ("end the transaction there" if holders else "end the transaction of the other connection")
        + ", or let SQLite wait longer with --connect-timeout",
    )


def failure(error: sqlite3.Error, holders: str = "") -> TareError:
    """`holders` names the processes that hold a lock on the database, if any do."""
    if is_busy(error):
        return StatementFailed(*busy(error, holders))
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_READONLY"):
        return WriteRefused(
            f"the statement would change data: {error}", "give --allow-writes if it is meant to"
        )
    if "one statement at a time" in str(error):  # ProgrammingError, from the driver itself
        return BadStatement(
            "the SQL holds several statements",
            "give one statement at a time; put set-up statements into --setup or --prepare",
        )
    if "Could not decode to UTF-8" in str(error):  # the driver's own: SQLite stores any bytes as text
        return StatementFailed(
            f"{error}: write CAST(… AS BLOB) around that column", "or correct the text: it is not UTF-8"
        )
    return StatementFailed(
        f"SQLite refused the statement: {error}" + (f" [{name}]" if name else ""),
        "correct the statement; `.schema` in the sqlite3 shell shows the tables",
    )
