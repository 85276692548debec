"""Servers that the faults of transactional runs are tried on: one a DBMS for all of them, a database for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tests.crash.oltp_runs import Database, load, new_database
from tests.servers import own_server


@pytest.fixture(scope="session", params=["postgresql", "mariadb"])
def oltp_server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    if request.param == "mariadb":
        pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    with own_server(request.param) as server:
        yield server


@pytest.fixture
def empty(oltp_server: RunningServer) -> Database:
    return new_database(oltp_server)


@pytest.fixture
def tatp(empty: Database) -> Database:
    """With a thousand subscribers."""
    return load(empty)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"
