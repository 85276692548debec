"""A server of each kind for all tests of this folder; a test that ends a server starts its own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.errors import ServerFailed
from tare.profile.backends import tried
from tests.profile.servers import fill


@pytest.fixture(scope="session")
def attach_works() -> None:
    """Skips the test where BPF may not watch functions here."""
    if os.geteuid() != 0:
        pytest.skip("attaching to functions needs root")
    one = next(one for one in tried() if one.name == "attach")
    if not one.works:
        pytest.skip(f"the attach backend does not work here: {one.says}")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[RunningServer]:
    """Version 18."""
    with start_postgresql(version="18") as server:
        fill(server.url)
        yield server


@pytest.fixture(scope="session")
def postgresql15() -> Iterator[RunningServer]:
    """Debian's, which names no static function."""
    try:
        server = start_postgresql(version="15")
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL 15 here: {error.what}")
    with server:
        fill(server.url)
        yield server


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[RunningServer]:
    pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    try:
        server = start_mariadb()
    except ServerFailed as error:
        pytest.skip(f"no MariaDB here: {error.what}")
    with server:
        fill(server.url)
        yield server
