"""Runs the command as a user would, and reads what it said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, TextIO

import psycopg

from tests.cli.forks import Forks
from tests.cli.started import Started

Running = Started | subprocess.Popen[str]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **more}


_FORKS = Forks(environment())


def tare(*words: str, timeout: float = 120, **more: str) -> Said:
    """In a fork where that shows the same, which is most of the time."""
    if _FORKS.serves(environment(**more)):
        return Said(*_FORKS.run(words, environment(**more), timeout))
    done = subprocess.run(
        [sys.executable, "-m", "tare", *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(**more),
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def start(*words: str, program: str = "tare", stderr: TextIO | None = None, **more: str) -> Running:
    """Begin a command that is looked at, signalled or killed while it runs, in a fork where that shows the same."""
    if _FORKS.serves(environment(**more)):
        return _FORKS.start(words, environment(**more), program, stderr)
    return start_python(*words, program=program, stderr=stderr, **more)


def start_python(
    *words: str, program: str = "tare", stderr: TextIO | None = None, **more: str
) -> subprocess.Popen[str]:
    """Begin it with a Python of its own, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", program, *words],
        stdout=subprocess.PIPE,
        stderr=stderr or subprocess.PIPE,
        text=True,
        env=environment(**more),
    )


def wait_until_it_ran(url: str, sql: str, times: int) -> None:
    """Until a PostgreSQL server has been seen to begin a statement so often."""
    seen = set()
    until = time.monotonic() + 60
    with psycopg.connect(url, autocommit=True) as connection:
        while len(seen) < times:
            assert time.monotonic() < until, f"{sql} was begun {len(seen)} times"
            running = "SELECT query_start FROM pg_stat_activity WHERE query = %s"
            seen.update(connection.execute(running, [sql]).fetchall())
            time.sleep(0.02)
