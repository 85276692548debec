"""Empty databases: a new file, or a new database in the shared server, dropped at the end. Sessions to share."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.experiment.ledger import rows

_TABLES = {
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    "mariadb": "SELECT table_name FROM information_schema.tables WHERE table_schema = database()",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    "duckdb": "SELECT table_name FROM duckdb_tables()",
}

_numbers = itertools.count(1)


class Readers:
    """Read-only sessions, one for each URL."""

    def __init__(self) -> None:
        self._opened: dict[str, Session] = {}

    def at(self, url: str) -> Session:
        if url not in self._opened:
            self._opened[url] = find(url).connect(url)
        return self._opened[url]

    def close(self, url: str) -> None:
        """The next reader opens another."""
        opened = self._opened.pop(url, None)
        if opened is not None:
            opened.close()

    def close_all(self) -> None:
        for url in [*self._opened]:
            self.close(url)


def drop_tables(session: Session) -> None:
    """Drop every table of the session's database."""
    for (name,) in rows(session, _TABLES[session.server.dbms]):
        session.run(f"DROP TABLE {name}")


def empty_sqlite(directory: Path) -> str:
    path = directory / "empty.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")  # an untouched file would be no database yet
    connection.close()
    return f"sqlite:///{path}"


def empty_duckdb(directory: Path) -> str:
    path = directory / "empty.duckdb"
    duckdb.connect(path).close()
    return f"duckdb:///{path}"


@contextmanager
def fresh(
    name: str, request: pytest.FixtureRequest, directory: Path, template: str | None = None
) -> Iterator[str]:
    """`name` as in DBMSES; `template`: URL of a database of PostgreSQL that is copied."""
    if name == "sqlite":
        yield empty_sqlite(directory)
        return
    if name == "duckdb":
        yield empty_duckdb(directory)
        return
    server: str = request.getfixturevalue(f"{name}_url")
    database = f"experiment_{next(_numbers)}"
    copied = "" if template is None else f" TEMPLATE {template.partition('?')[0].rpartition('/')[2]}"
    _run(server, f"CREATE DATABASE {database}{copied}")
    try:
        yield _within(server, database)
    finally:
        _run(server, f"DROP DATABASE {database}")


def _run(url: str, sql: str) -> None:
    session = find(url).connect(url, allow_writes=True)
    try:
        session.run(sql)
    finally:
        session.close()


def _within(url: str, database: str) -> str:
    before, mark, parameters = url.partition("?")
    return before.rpartition("/")[0] + f"/{database}{mark}{parameters}"
