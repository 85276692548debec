"""One suite, run against every adapter on real servers. What an adapter cannot do stands in gaps.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tests.dbms.gaps import GAPS

MYSQL = pytest.param("mysql", marks=pytest.mark.mariadb)
DBMSES = (
    "postgresql",
    "postgresql15",
    pytest.param("mariadb", marks=pytest.mark.mariadb),
    MYSQL,
    "sqlite",
    "duckdb",
)

WITHOUT_MYSQL = [one for one in DBMSES if one is not MYSQL]
"""For what Tare builds on an adapter: there, MySQL 5.6 runs what MariaDB runs, and it takes long to start."""


def dbms_named(request: pytest.FixtureRequest) -> str:
    """The fixture's parameter; what it cannot do, this test is expected to show."""
    name: str = request.param
    gap = GAPS.get((name, request.node.originalname))
    if gap is not None:
        request.node.add_marker(pytest.mark.xfail(raises=gap.error, reason=gap.reason, strict=True))
    return name


@pytest.fixture(params=DBMSES)
def dbms(request: pytest.FixtureRequest) -> str:
    return dbms_named(request)


@pytest.fixture
def url(dbms: str, request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{dbms}_url")
    return found


@pytest.fixture
def session(url: str) -> Iterator[Session]:
    """Read-only, as `tare time` opens it."""
    opened = find(url).connect(url)
    yield opened
    opened.close()


@pytest.fixture
def writing(url: str) -> Iterator[Session]:
    opened = find(url).connect(url, allow_writes=True)
    yield opened
    opened.close()
