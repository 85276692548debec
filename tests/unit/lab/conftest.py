"""Labs of both engines: a SQLite file, and a database of its own on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.lab.store import Lab, open_lab
from tests.unit.lab.databases import own_database


@pytest.fixture
def postgresql_lab(postgresql_url: str) -> Iterator[str]:
    """The URL of an empty database."""
    with own_database(postgresql_url) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Path or URL of a lab that can be created."""
    if request.param == "sqlite":
        return str(tmp_path / "lab.db")
    url: str = request.getfixturevalue("postgresql_lab")
    return url


@pytest.fixture
def lab(where: str) -> Iterator[Lab]:
    with open_lab(where, create=True) as opened:
        yield opened


@pytest.fixture
def sqlite_lab(tmp_path: Path) -> Iterator[Lab]:
    with open_lab(str(tmp_path / "lab.db"), create=True) as opened:
        yield opened
