"""Connections to a throw-away MySQL, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import parse_qs, urlsplit

DEADLOCK = 1213
TIMED_OUT = 1205


def connect(url: str, *, autocommit: bool = False) -> Any:
    import mariadb  # an optional package: tests that need it say so when they run

    socket = parse_qs(urlsplit(url).query)["socket"][0]
    return mariadb.connect(unix_socket=socket, user="root", database="tare", autocommit=autocommit)


def run(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []
    finally:
        cursor.close()


def execute(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Rows of the last one."""
    with closing(connect(url, autocommit=True)) as connection:
        return [run(connection, sql) for sql in statements][-1]


def until_committed(connection: Any, work: Callable[[], None]) -> int:
    """Number of times that a deadlock ended the transaction before."""
    deadlocks = 0
    while True:
        try:
            work()
            connection.commit()
            return deadlocks
        except Exception as error:
            if getattr(error, "errno", None) != DEADLOCK:
                raise
            connection.rollback()
            deadlocks += 1
