"""Databases for all tests: started once, filled alike, stopped at the end.

A test that kills, restarts or changes a server starts one of its own.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tare.dbms.servers import program, start_mariadb, start_mysql, start_postgresql
from tare.errors import ServerFailed
from tests import servers
from tests.first_data import FirstData
from tests.servers import fill_server, let_servers_in, make_duckdb, make_sqlite

pytest_plugins = ("tests.ci.classes", "tests.ci.journal", "tests.ci.skips", "tests.ci.workers")

# One profile for CI and by hand: the same examples each time, and no limit on the time of one.
settings.register_profile("tare", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("tare")


def pytest_configure() -> None:
    """A run in the background or under nohup ignores these, and so would every program the tests start."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """pytest's, but one that a server can enter."""
    return let_servers_in(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _first_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("first-data")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(program, "run", FirstData(folder, program.run).run)
        yield
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    return servers.free_port()


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """PostgreSQL 18 from the wheel, on a socket."""
    with start_postgresql(version="18") as server:
        fill_server(server.url)
        yield server.url


@pytest.fixture(scope="session")
def postgresql_tcp_url() -> Iterator[str]:
    """The same on 127.0.0.1, in a server of its own. No user in the URL: a test puts in one."""
    with start_postgresql(version="18", port=servers.free_port()) as server:
        fill_server(server.url)
        yield server.url.replace("postgres@", "", 1)


@pytest.fixture(scope="session")
def postgresql15_url() -> Iterator[str]:
    """Debian's PostgreSQL 15, with pg_buffercache and without I/O workers."""
    try:
        server = start_postgresql(version="15")
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL 15 here: {error.what}")
    with server:
        fill_server(server.url)
        yield server.url


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    pytest.importorskip(
        "mariadb", reason="the MariaDB connector is not installed (pip install 'tare-db[mariadb]')"
    )
    try:
        server = start_mariadb()
    except ServerFailed as error:
        pytest.skip(f"no MariaDB here: {error.what}")
    with server:
        fill_server(server.url)
        yield server.url


@pytest.fixture(scope="session")
def mysql_url() -> Iterator[str]:
    """MySQL 5.6.24, as npm brings it."""
    pytest.importorskip(
        "mariadb", reason="the MariaDB connector is not installed (pip install 'tare-db[mariadb]')"
    )
    try:
        server = start_mysql()
    except ServerFailed as error:
        pytest.skip(f"no MySQL here: {error.what}")
    with server:
        fill_server(server.url)
        yield server.url


@pytest.fixture(scope="session")
def sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_sqlite(tmp_path_factory.mktemp("sqlite") / "numbers.db")


@pytest.fixture(scope="session")
def duckdb_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_duckdb(tmp_path_factory.mktemp("duckdb") / "numbers.duckdb")
