"""The loads under which a server is profiled: where transactions wait for each other's rows, and where they do not."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.oltp_common import closed, load, send
from benchmarks.profile_overhead.pgbench import Pgbench
from tare.dbms.servers import RunningServer

WARM_UP_S = 3
POSTGRESQL_18, POSTGRESQL_15, MARIADB = "PostgreSQL 18", "PostgreSQL 15", "MariaDB"
NAMES = (POSTGRESQL_18, POSTGRESQL_15, MARIADB)


@dataclass(frozen=True)
class Work:
    """`scale`: warehouses, or pgbench's."""

    name: str
    contended: bool  # transactions wait for rows that others have locked
    scale: int
    connections: int
    pgbench: str = ""  # its built-in script; empty: TPC-C

    def fits(self, dbms: str) -> bool:
        return not self.pgbench or dbms != MARIADB

    def prepare(self, server: RunningServer) -> None:
        if self.pgbench:
            Pgbench(server.record.binaries).prepare(server.url, self.scale)
        else:
            load(server.url, self.scale)

    @contextmanager
    def running(self, server: RunningServer, seconds: int) -> Iterator[None]:
        """It is under way within the block, `seconds` at most, and over after it."""
        with self._pgbench(server, seconds) if self.pgbench else self._tpcc(server.url, seconds):
            time.sleep(WARM_UP_S)
            yield

    @contextmanager
    def _pgbench(self, server: RunningServer, seconds: int) -> Iterator[None]:
        words = [
            "--no-vacuum",
            f"--client={self.connections}",
            f"--time={seconds}",
            f"--builtin={self.pgbench}",
        ]
        command = [Pgbench(server.record.binaries).program, *words, server.url]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                yield
                if process.poll() is not None:
                    raise SystemExit(f"pgbench ended by itself, with {process.returncode}")
            finally:
                process.terminate()

    @contextmanager
    def _tpcc(self, url: str, seconds: int) -> Iterator[None]:
        asked = closed(self.connections, seconds, 0.0)
        driver = threading.Thread(target=send, args=(url, asked))
        driver.start()
        try:
            yield
            if not driver.is_alive():
                raise SystemExit("the load ended before the profile did")
        finally:
            driver.join()


WORKS = (
    Work("TPC-C, 8 warehouses, 4 connections", False, 8, 4),
    Work("TPC-C, 1 warehouse, 16 connections", True, 1, 16),
    Work("pgbench simple-update, scale 20, 8 connections", False, 20, 8, "simple-update"),
    Work("pgbench tpcb-like, scale 1, 16 connections", True, 1, 16, "tpcb-like"),
)
