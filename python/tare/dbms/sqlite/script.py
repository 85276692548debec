"""A script of SQLite apart into its statements, as SQLite itself tells where one is complete."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tare.dbms.statement import first_word


def statements(sql: str) -> Iterator[str]:
    """Yield each statement. The semicolons in a trigger, a constant or a comment end none."""
    begin = end = 0
    while (end := sql.find(";", end) + 1) > 0:
        if sqlite3.complete_statement(sql[begin:end]):
            if first_word(sql[begin:end]):
                yield sql[begin:end]
            begin = end
    if first_word(sql[begin:]):
        yield sql[begin:]
