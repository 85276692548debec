"""Empty databases: a new file, or a new database in the shared server, dropped at the end."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tare.dbms.registry import find

_numbers = itertools.count(1)


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
def fresh(name: str, request: pytest.FixtureRequest, directory: Path) -> Iterator[str]:
    """`name` as in DBMSES."""
    if name == "sqlite":
        yield empty_sqlite(directory)
        return
    if name == "duckdb":
        yield empty_duckdb(directory)
        return
    server: str = request.getfixturevalue(f"{name}_url")
    database = f"experiment_{next(_numbers)}"
    _run(server, f"CREATE DATABASE {database}")
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
