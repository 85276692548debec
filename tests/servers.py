"""The databases that tests run against, each with the same small table.

    numbers(id integer primary key, grp integer, val double, txt varchar)

20,000 rows: id from 1, grp = id mod 100, val = id / 2, txt = 't' and the id.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_mysql, start_postgresql
from tare.errors import ConnectionFailed, ServerFailed, ServerLost

ROWS = 20_000

_TABLE = "CREATE TABLE numbers (id integer PRIMARY KEY, grp integer, val double precision, txt varchar(16))"

_DIGIT = "(SELECT 0 AS d" + "".join(f" UNION ALL SELECT {digit}" for digit in range(1, 10)) + ")"
_MYSQL_NUMBERS = (  # MySQL 5.6 has neither sequences nor recursion
    "(SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS seq FROM "
    f"{_DIGIT} a, {_DIGIT} b, {_DIGIT} c, {_DIGIT} e, (SELECT 0 AS d UNION ALL SELECT 1) f) s"
)

_FILL = {
    "postgresql": f"SELECT i, i % 100, i * 0.5, 't' || i FROM generate_series(1, {ROWS}) AS s(i)",
    "mariadb": f"SELECT seq, seq % 100, seq * 0.5, concat('t', seq) FROM seq_1_to_{ROWS}",
    "mysql": f"SELECT seq, seq % 100, seq * 0.5, concat('t', seq) FROM {_MYSQL_NUMBERS} WHERE seq <= {ROWS} ORDER BY 1",
    "duckdb": f"SELECT i, i % 100, i * 0.5, 't' || i FROM range(1, {ROWS + 1}) AS s(i)",
    "sqlite": f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) "
    "SELECT i, i % 100, i * 0.5, 't' || i FROM s",
}

_SETTLE = {
    "postgresql": "VACUUM ANALYZE numbers",
    "mariadb": "ANALYZE TABLE numbers",
    "mysql": "ANALYZE TABLE numbers",
}


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


_STARTS = {"postgresql": start_postgresql, "mariadb": start_mariadb, "mysql": start_mysql}


@contextmanager
def own_server(dbms: str) -> Iterator[RunningServer]:
    """A server that the test may kill; skips the test where there is none."""
    try:
        server = _STARTS[dbms]()
    except ServerFailed as error:
        pytest.skip(f"no server here: {error.what}")
    with server:
        yield server


def let_servers_in(folder: Path) -> Path:
    """The temporary folder, which an ordinary user may enter now: as one root's servers run."""
    if os.geteuid() == 0:
        shared = Path(tempfile.gettempdir()).resolve()
        for path in (folder, *(one for one in folder.parents if shared in one.parents)):
            path.chmod(path.stat().st_mode | 0o011)
    return folder


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key, which every user of the machine may read."""
    paths = (folder / "server.crt", folder / "server.key")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
    ]
    subprocess.run(
        [*command, "-out", str(paths[0]), "-keyout", str(paths[1])], check=True, capture_output=True
    )
    return paths


@contextmanager
def pgbouncer(folder: Path, server_port: int, pool_mode: str) -> Iterator[str]:
    """The URL of a pooler in front of a PostgreSQL server on 127.0.0.1. Skips the test where there is none."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("no pgbouncer here (Debian: apt-get install pgbouncer)")
    port = free_port()
    file = folder / f"{pool_mode}.ini"
    file.write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={server_port} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = {pool_mode}\n"
    )
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    running = subprocess.Popen([program, "-q", str(file)], stderr=subprocess.DEVNULL, **user)  # type: ignore[call-overload]
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        until = time.monotonic() + 10
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert running.poll() is None, "pgbouncer ended"
            assert time.monotonic() < until, "pgbouncer does not listen"
            time.sleep(0.02)
        yield url
    finally:
        running.terminate()
        running.wait(10)


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_it_is_back(url: str) -> None:
    """A postmaster that lost a backend ends all others and recovers. If it is told to stop before, it may hang."""
    for _ in range(300):
        with suppress(ConnectionFailed, ServerLost):
            find(url).connect(url).close()
            return
        time.sleep(0.1)
    pytest.fail("the server did not recover in 30 s")
