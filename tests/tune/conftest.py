"""Servers whose settings tests change: each starts one of its own, and keeps its journals in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tests.servers import own_server


@pytest.fixture(scope="package", params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with own_server(request.param) as running:
        yield running


@pytest.fixture(scope="package")
def postgresql() -> Iterator[RunningServer]:
    with own_server("postgresql") as running:
        yield running


@pytest.fixture(scope="package")
def mariadb() -> Iterator[RunningServer]:
    with own_server("mariadb") as running:
        yield running


@pytest.fixture(autouse=True)
def journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of journals."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tare" / "tune"
