"""SQLite's failures by the name of their result code: the next step for each, and the error that Tare raises."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from tare.errors import StatementFailed, TareError, WriteRefused, several_statements

_STEPS: Mapping[str, str] = {
    "SQLITE_CONSTRAINT": "put the data back between runs: after each one with --conclude, or before it with "
    "--prepare",
    "SQLITE_FULL": "make room on the disk of the database and of its temporary files (SQLITE_TMPDIR)",
    "SQLITE_NOMEM": "return fewer rows, or free memory",
    "SQLITE_IOERR": "look at the disk of the database (`dmesg`)",
    "SQLITE_CORRUPT": "check the file with PRAGMA integrity_check",
    "SQLITE_NOTADB": "check that the file is an SQLite database",
    "SQLITE_AUTH": "run the statement by itself: it is not permitted here",
    "SQLITE_TOOBIG": "shorten the statement or its values",
}
"""Next step by result code; an extended code (SQLITE_IOERR_READ) has that of its own."""

_ELSE = "correct the statement; `.schema` in the sqlite3 shell shows the tables"
_FINAL = ("SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH")
_NAMED = re.compile(r'near "(.+)": |: ([\w.]+)$', re.DOTALL)


def is_busy(error: sqlite3.Error) -> bool:
    """Another connection holds a lock for longer than SQLite waits."""
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def busy(error: sqlite3.Error, holders: str) -> tuple[str, str]:
    """Return what happened when SQLite did not get a lock, and the next step. `holders` names who has it, if known."""
    return (
        f"SQLite waited for a lock, and gave up: {error}" + (f", by {holders}" if holders else ""),
        ("end the transaction there" if holders else "end the transaction of the other connection")
        + ", or let SQLite wait longer with --connect-timeout",
    )


def failure(error: sqlite3.Error, holders: str = "", sql: str = "") -> TareError:
    """`holders` names the processes that hold a lock on the database, if any do. `sql` is the user's, or empty."""
    name = _name(error)
    if is_busy(error):
        what, next_step = busy(error, holders)
        return StatementFailed(what, next_step, code=name)
    if name.startswith("SQLITE_READONLY"):
        return WriteRefused(
            f"the statement would change data: {error}", "give --allow-writes if it is meant to", code=name
        )
    if "one statement at a time" in str(error):  # ProgrammingError, from the driver itself
        return several_statements()
    if "Could not decode to UTF-8" in str(error):  # the driver's own: SQLite stores any bytes as text
        return StatementFailed(
            f"{error}: write CAST(… AS BLOB) around that column", "or correct the text: it is not UTF-8"
        )
    step = next((step for code, step in _STEPS.items() if name == code or name.startswith(f"{code}_")), _ELSE)
    return StatementFailed(
        f"SQLite refused the statement: {error}" + (f" [{name}]" if name else ""),
        step,
        code=name,
        offset=_offset(str(error), sql),
        may_pass=not name.startswith(_FINAL),
    )


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _offset(message: str, sql: str) -> int | None:
    """Characters before the word that SQLite names, where it stands once in the statement: the driver hides the place
    that SQLite knows (sqlite3_error_offset)."""
    named = _NAMED.search(message)
    word = (named.group(1) or named.group(2)) if named else ""
    places = (
        [found.start() for found in re.finditer(rf"(?<![\w.]){re.escape(word)}(?![\w.])", sql)]
        if word
        else []
    )
    return places[0] if len(places) == 1 else None
