"""The databases that tests run against, each with the same small table.

    numbers(id integer primary key, grp integer, val double, txt varchar)

20,000 rows: id from 1, grp = id mod 100, val = id / 2, txt = 't' and the id.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.errors import ConnectionFailed, ServerFailed, ServerLost

ROWS = 20_000

_TABLE = "CREATE TABLE numbers (id integer PRIMARY KEY, grp integer, val double precision, txt varchar(16))"

_FILL = {
    "postgresql": f"SELECT i, i % 100, i * 0.5, 't' || i FROM generate_series(1, {ROWS}) AS s(i)",
    "mariadb": f"SELECT seq, seq % 100, seq * 0.5, concat('t', seq) FROM seq_1_to_{ROWS}",
    "duckdb": f"SELECT i, i % 100, i * 0.5, 't' || i FROM range(1, {ROWS + 1}) AS s(i)",
    "sqlite": f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) "
    "SELECT i, i % 100, i * 0.5, 't' || i FROM s",
}

_SETTLE = {"postgresql": "VACUUM ANALYZE numbers", "mariadb": "ANALYZE TABLE numbers"}


def fill_server(url: str) -> None:
    session = find(url).connect(url, allow_writes=True)
    try:
        dbms = session.server.dbms
        for sql in (_TABLE, f"INSERT INTO numbers {_FILL[dbms]}", _SETTLE[dbms]):
            session.run(sql)
        session.flush()
    finally:
        session.close()


def make_sqlite(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute(_TABLE)
        connection.execute(f"INSERT INTO numbers {_FILL['sqlite']}")
    connection.close()
    return f"sqlite:///{path}"


def make_duckdb(path: Path) -> str:
    with duckdb.connect(path) as connection:
        connection.execute(_TABLE)
        connection.execute(f"INSERT INTO numbers {_FILL['duckdb']}")
    return f"duckdb:///{path}"


@contextmanager
def own_server(dbms: str) -> Iterator[RunningServer]:
    """One that may be killed; skips the test where there is none."""
    try:
        server = start_postgresql() if dbms == "postgresql" else start_mariadb()
    except ServerFailed as error:
        pytest.skip(f"no server here: {error.what}")
    with server:
        yield server


def wait_until_it_is_back(url: str) -> None:
    """A postmaster that lost a backend ends all others and recovers. If it is told to stop before, it may hang."""
    for _ in range(300):
        with suppress(ConnectionFailed, ServerLost):
            find(url).connect(url).close()
            return
        time.sleep(0.1)
    pytest.fail("the server did not recover in 30 s")
