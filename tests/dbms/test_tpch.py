"""TPC-H at a small scale: every DBMS loads it, and gives DuckDB's answers to the 22 queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import MissingProgram, StatementFailed
from tare.workload.tpch.data import Format, generator, write_files
from tare.workload.tpch.loading import load
from tare.workload.tpch.queries import NUMBERS, query
from tare.workload.tpch.reference import difference, reference
from tare.workload.tpch.tables import refuse_other_scale, row_counts
from tests.dbms.databases import empty_sqlite, fresh

SCALE = 0.01


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    try:
        generator()
    except MissingProgram as error:
        pytest.skip(str(error))
    write_files(folder, SCALE, Format.CSV)
    return folder


@pytest.fixture(scope="module")
def source(rows: Path) -> Iterator[Session]:
    with reference(SCALE) as session:
        yield session


def connect(url: str) -> Session:
    return find(url).connect(url, allow_writes=True)


@pytest.fixture(
    scope="module", params=["sqlite", "postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb)]
)
def session(request: pytest.FixtureRequest, rows: Path) -> Iterator[Session]:
    with fresh(request.param, request, rows) as url:
        opened = connect(url)
        try:
            load(opened, rows)
            yield opened
        finally:
            opened.close()


@pytest.mark.parametrize("number", NUMBERS)
def test_an_answer_is_the_same_as_duckdbs(session: Session, source: Session, number: int) -> None:
    assert difference(session, source, number, SCALE, 60) is None


def test_each_table_has_the_rows_of_its_scale(session: Session) -> None:
    refuse_other_scale(row_counts(session), SCALE)


@pytest.mark.parametrize("number", NUMBERS)
def test_an_answer_has_rows_to_compare(source: Session, number: int) -> None:
    rows = source.prepare(query(number, "duckdb", SCALE)).execute(60).row_count
    assert rows > 0


def test_a_load_that_fails_drops_what_it_made(rows: Path, tmp_path: Path) -> None:
    for file in rows.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "orders.csv").open("a") as orders:
        orders.write("not,a,row\n")
    session = connect(empty_sqlite(tmp_path))
    with pytest.raises(StatementFailed):
        load(session, tmp_path)
    assert row_counts(session) == {}
    session.close()
