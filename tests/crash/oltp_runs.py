"""Servers of their own with a small TATP on each, and runs on them that are watched from outside."""

from __future__ import annotations

import itertools
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tare.dbms.servers import RunningServer
from tare.dbms.url import parse
from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tare.workload.oltp.run import OltpRun
from tests.cli.running import Running, Said, start, tare

CONNECTIONS = 4
SMALL = ("--scale", "0.01")
_NUMBERS = itertools.count(1)
_LOOK_S = 0.2
"""Between two looks. InnoDB renews its list of transactions only when nobody has read it for 0.1 s."""

_LOCK_WAITS = {
    "postgresql": "SELECT count(*) FROM pg_locks WHERE NOT granted",
    "mariadb": "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
}
_SESSIONS = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid()",
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE db = database() AND id <> connection_id()",
}


@dataclass(frozen=True)
class Database:
    """Database of one test, on a server that several tests share."""

    server: RunningServer
    url: str

    @property
    def dbms(self) -> str:
        return self.server.record.kind

    def connect(self) -> Any:
        """A connection of DB-API 2, in a transaction."""
        if self.dbms == "postgresql":
            return psycopg.connect(self.url)
        import mariadb

        at = parse(self.url)
        return mariadb.connect(user="root", unix_socket=at.parameters["socket"], database=at.database)

    def run(self, *statements: str) -> None:
        with closing(self.connect()) as connection:
            for sql in statements:
                connection.cursor().execute(sql)
            connection.commit()

    def number(self, sql: str) -> int:
        with closing(self.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            return int(cursor.fetchone()[0])

    def lock_waits(self) -> int:
        return self.number(_LOCK_WAITS[self.dbms])

    def sessions(self) -> int:
        """Number of other sessions in the database."""
        return self.number(_SESSIONS[self.dbms])

    def processes(self) -> list[int]:
        """The server's, and those it has started."""
        children = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text()
        return [self.server.pid, *map(int, children.split())]


def new_database(server: RunningServer) -> Database:
    name = f"oltp_{next(_NUMBERS)}"
    first = Database(server, server.url)
    with closing(first.connect()) as connection:
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
    return Database(server, server.url.replace(f"/{parse(server.url).database}?", f"/{name}?", 1))


def oltp(*words: str, **more: str) -> Said:
    return tare("bench", "oltp", *words, **more)


def load(database: Database) -> Database:
    done = oltp("load", "tatp", *SMALL, "--db", database.url)
    assert done.code == 0, done.err
    return database


def words_of(
    database: Database,
    lab: Path,
    *more: str,
    rate: int = 50,
    warmup: str = "0",
    connections: int = CONNECTIONS,
) -> list[str]:
    """A run at so many transactions a second, by default without warm-up."""
    usual = ["--rate", str(rate), "--warmup", warmup, "--connections", str(connections)]
    return ["run", "tatp", "--db", database.url, "--lab", str(lab), *usual, *more]


class Watched:
    """A run under way."""

    def __init__(self, process: Running) -> None:
        self.process = process
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self._lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def err(self) -> str:
        return "".join(self._lines)

    def wait_for(self, line: str) -> None:
        until_true(lambda: line in self.err or self.process.poll() is not None, 30)
        assert line in self.err, self.err

    def driver(self) -> int:
        """Its process."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for child in children.read_text().split():
            if b"tare.workload.oltp.driver" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        raise AssertionError(f"{self.process.pid} has no driver")

    def ended(self, within_s: float = 40) -> Said:
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        code = self.process.wait(within_s)
        self._reader.join(5)
        assert "Traceback" not in self.err
        return Said(code, out, self.err)


@contextmanager
def watched(words: Sequence[str], **more: str) -> Iterator[Watched]:
    """A run that is over at the end of the block, however that is left."""
    process = start("bench", "oltp", *words, **more)
    try:
        yield Watched(process)
    finally:
        process.kill()
        process.wait()


@contextmanager
def stopped(database: Database) -> Iterator[None]:
    """Its server stands still."""
    processes = database.processes()
    try:
        for process in processes:
            signal_to(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            signal_to(process, signal.SIGCONT)


def signal_to(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def last_run(lab: Path) -> OltpRun:
    """The run as the lab holds it."""
    with open_lab(str(lab)) as opened:
        return runs.load(opened, runs.listed(opened)[-1].id)


def until_true(is_so: Callable[[], bool], within_s: float) -> float:
    """How long it took, s."""
    begun = time.monotonic()
    while not is_so():
        assert time.monotonic() < begun + within_s, f"not so after {within_s} s"
        time.sleep(_LOOK_S)
    return time.monotonic() - begun


def slower_than(seconds: float, histogram: Sequence[tuple[int, int]]) -> int:
    """Transactions."""
    return sum(count for highest, count in histogram if highest > seconds * 1e9)


def flat(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return re.sub(r"\s+", " ", text)
