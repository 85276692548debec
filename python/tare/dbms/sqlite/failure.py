"""What SQLite's errors are to a user."""

from __future__ import annotations

import sqlite3

from tare.errors import BadStatement, StatementFailed, TareError, WriteRefused


def failure(error: sqlite3.Error) -> TareError:
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
    step = "end the other process that holds the database" if name.startswith("SQLITE_BUSY") else ""
    if "Could not decode to UTF-8" in str(error):  # the driver's own: SQLite stores any bytes as text
        return StatementFailed(
            f"{error}: write CAST(… AS BLOB) around that column", "or correct the text: it is not UTF-8"
        )
    return StatementFailed(
        f"SQLite refused the statement: {error}" + (f" [{name}]" if name else ""),
        step or "correct the statement; `.schema` in the sqlite3 shell shows the tables",
    )
