"""A suite that runs against every adapter on real servers. gaps.py lists what an adapter cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tests.dbms.databases import Readers, fresh
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


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    opened = Readers()
    yield opened
    opened.close_all()


@pytest.fixture
def session(url: str, readers: Readers) -> Session:
    """Read-only, as `tare time` opens it. The tests of a file share it: they leave it as it was."""
    return readers.at(url)


@pytest.fixture
def writing(url: str, readers: Readers) -> Iterator[Session]:
    if url.startswith("duckdb"):  # it lets nobody in beside a session that writes
        readers.close(url)
    opened = find(url).connect(url, allow_writes=True)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def writer_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Session]]:
    """A session that writes in a database of its own, by the name of the DBMS. The tests of a file share it, with the
    tables that are there: a new database costs more than most tests."""
    with ExitStack() as stack:

        @cache
        def opened(name: str) -> Session:
            url = stack.enter_context(fresh(name, request, tmp_path_factory.mktemp(name)))
            session = find(url).connect(url, allow_writes=True)
            stack.callback(session.close)
            return session

        yield opened
