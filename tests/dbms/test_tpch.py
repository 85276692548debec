"""TPC-H at a small scale: every DBMS loads it, and its 22 answers are DuckDB's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import MissingPackage
from tare.workload.tpch.data import Format, write_files
from tare.workload.tpch.loading import load
from tare.workload.tpch.queries import NUMBERS, query
from tests.servers import own_server

SCALE = 0.01


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    try:
        write_files(folder, SCALE, Format.CSV)
    except MissingPackage as error:
        pytest.skip(str(error))
    return folder


@pytest.fixture(scope="module")
def reference(rows: Path) -> dict[int, list[tuple[Any, ...]]]:
    duckdb.connect(rows / "reference.duckdb").close()
    session = loaded(f"duckdb:///{rows / 'reference.duckdb'}", rows)
    try:
        return {number: answer(session, number, "duckdb") for number in NUMBERS}
    finally:
        session.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def session(request: pytest.FixtureRequest, rows: Path) -> Iterator[Session]:
    if request.param == "sqlite":
        (rows / "tpch.sqlite").touch()
        session = loaded(f"sqlite:///{rows / 'tpch.sqlite'}", rows)
        yield session
        session.close()
        return
    with own_server(request.param) as server:
        url = server.url
        if request.param == "mariadb":
            first = find(url).connect(url, allow_writes=True)
            first.run("CREATE DATABASE IF NOT EXISTS tpch")
            first.close()
        session = loaded(url, rows)
        yield session
        session.close()


@pytest.mark.parametrize("number", NUMBERS)
def test_an_answer_is_the_same_as_duckdbs(
    session: Session, reference: dict[int, list[tuple[Any, ...]]], number: int
) -> None:
    rows = answer(session, number, session.server.dbms)
    expected = reference[number]
    assert len(rows) == len(expected)
    for row, other in zip(rows, expected, strict=True):
        assert [plain(value) for value in row] == [approximate(value) for value in other]


def loaded(url: str, rows: Path) -> Session:
    session = find(url).connect(url, allow_writes=True)
    load(session, rows)
    return session


def answer(session: Session, number: int, dbms: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.prepare(query(number, dbms, SCALE)).execute(60).rows()]


def plain(value: Any) -> Any:
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return text


def approximate(value: Any) -> Any:
    number = plain(value)
    return pytest.approx(number, rel=1e-6, abs=0.01) if isinstance(number, float) else number
