"""Servers under a small load of pgbench's kind, whose transactions can be counted beside the profile's."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from benchmarks.common import connect

ROWS = 1_000
CONNECTIONS = 4
PAUSE_S = 0.002
"""Time between two calls of a connection: most of the machine stays idle, and Tare, which is nice, gets CPU time."""

TABLE = "accounts"


def fill(url: str) -> None:
    with closing(connect(url)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
        cursor.execute(f"CREATE TABLE {TABLE} (id integer PRIMARY KEY, balance integer)")
        rows = ", ".join(f"({number}, 0)" for number in range(ROWS))
        cursor.execute(f"INSERT INTO {TABLE} VALUES {rows}")


def update(cursor: Any, draw: random.Random) -> None:
    cursor.execute(f"UPDATE {TABLE} SET balance = balance + 1 WHERE id = {draw.randrange(ROWS)}")


def same_row(cursor: Any, draw: random.Random) -> None:
    """A transaction that updates one of three rows, so that transactions wait for each other."""
    cursor.execute("BEGIN")
    cursor.execute(f"UPDATE {TABLE} SET balance = balance + 1 WHERE id = {draw.randrange(3)}")
    cursor.execute("SELECT 1")
    cursor.execute("COMMIT")


def prepared_block(cursor: Any, draw: random.Random) -> None:
    """A transaction of four statements; its updates are prepared, so they come by the extended protocol."""
    cursor.execute("BEGIN")
    for _ in range(2):
        cursor.execute(
            f"UPDATE {TABLE} SET balance = balance + 1 WHERE id = %s", [draw.randrange(ROWS)], prepare=True
        )
    cursor.execute("COMMIT")


def without_autocommit(cursor: Any, draw: random.Random) -> None:
    """A transaction of two updates that no BEGIN opens."""
    cursor.execute("SET autocommit = 0")
    update(cursor, draw)
    update(cursor, draw)
    cursor.execute("COMMIT")


@contextmanager
def load(
    url: str,
    work: Callable[[Any, random.Random], None] = update,
    connections: int = CONNECTIONS,
    pause_s: float = PAUSE_S,
) -> Iterator[Callable[[], int]]:
    """Within the block each connection works and pauses in turns. Yields how many calls of `work` have ended."""
    done = [0] * connections
    stop = threading.Event()

    def one(number: int) -> None:
        draw = random.Random(number)
        ended = suppress(psycopg.OperationalError)  # a test may end its server
        with ended, closing(connect(url)) as connection, closing(connection.cursor()) as cursor:
            while not stop.is_set():
                work(cursor, draw)
                done[number] += 1
                time.sleep(pause_s)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(connections)]
    for thread in threads:
        thread.start()
    try:
        yield lambda: sum(done)
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)


def after_a_round(run: Path) -> None:
    """Wait until a profile's folder reports a round."""
    for _ in range(1200):
        with suppress(OSError):
            if json.loads((run / "about.json").read_text())["rounds"]:
                return
        time.sleep(0.1)
    pytest.fail(f"{run} reports no round")
