"""An experiment's tables: the same rows on the same pages whenever they are made, on every DBMS."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import ForeignTable, NoSuchCardinality, StatementFailed, TableDiffers
from tare.experiment.ledger import Ledger, exists, rows
from tare.experiment.rows import chunks
from tare.experiment.specification import ColumnSpec, TableSpec
from tare.experiment.tables import Tables
from tests.dbms.conftest import WITHOUT_MYSQL, dbms_named
from tests.dbms.databases import drop_tables, fresh
from tests.unit.experiment.specifications import experiment

VARIABLE = TableSpec(name="ft_HT1", cardinality=5_000, step=1_000, primary_key="id1", seed=1)
PLAIN = TableSpec(
    name="ft_HT2",
    cardinality=3_000,
    seed=2,
    columns=(ColumnSpec(name="a", low=-9, high=9), ColumnSpec(name="b")),
)
SPECIFICATION = experiment(VARIABLE, PLAIN)


class Crash(Exception):
    """A power cut as it looks from within."""


@pytest.fixture(params=WITHOUT_MYSQL)
def dbms(request: pytest.FixtureRequest) -> str:
    return dbms_named(request)


@pytest.fixture
def writer(dbms: str, writer_of: Callable[[str], Session]) -> Session:
    """A session whose database has no table."""
    session = writer_of(dbms)
    drop_tables(session)
    return session


@pytest.fixture
def tables(writer: Session) -> Tables:
    made = Tables(writer, SPECIFICATION)
    made.prepare()
    return made


@lru_cache
def generated(table: TableSpec, cardinality: int) -> list[tuple[int, ...]]:
    return [
        row
        for _, columns in chunks(table, cardinality)
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def test_tables_hold_the_generated_rows_in_their_order(tables: Tables, writer: Session) -> None:
    tables.settle(2_000)
    assert rows(writer, "SELECT * FROM ft_HT1") == generated(VARIABLE, 2_000)
    assert rows(writer, "SELECT * FROM ft_HT2") == generated(PLAIN, 3_000)


def test_a_table_of_ours_is_in_the_ledger_after_every_statement(
    tables: Tables, writer: Session, dbms: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a crash between two of them would make it somebody else's, whom Tare refuses to touch."""
    tables.settle(2_000)
    url = writer.server.url
    beside = find(url).connect(url, allow_writes=True) if dbms != "duckdb" else writer
    run, looks = writer.run, 0

    def looked_after(sql: str) -> None:
        nonlocal looks
        run(sql)
        for name in ("ft_HT1", "ft_HT2"):
            if exists(beside, name):
                looks += 1
                assert Ledger(beside).entry(name) is not None, sql

    monkeypatch.setattr(writer, "run", looked_after)
    tables.settle(3_000)
    assert looks > 3
    if beside is not writer:
        beside.close()


def test_a_cardinality_made_again_is_identical_in_rows_order_and_bytes(tables: Tables) -> None:
    first = {}
    for cardinality in (5_000, 3_000, 1_000):
        tables.settle(cardinality)
        first[cardinality] = tables.signature()["ft_HT1"]
    for cardinality in (3_000, 5_000, 1_000):
        tables.settle(cardinality)
        assert tables.signature()["ft_HT1"] == first[cardinality]
    assert len({signature.content for signature in first.values()}) == 3


def test_fewer_rows_occupy_fewer_bytes_where_the_dbms_tells(tables: Tables, dbms: str) -> None:
    found = []
    for cardinality in (5_000, 1_000):
        tables.settle(cardinality)
        found.append(tables.signature()["ft_HT1"].bytes)
    large, small = found
    if dbms == "duckdb":
        assert large is None
        assert small is None
    else:
        assert large is not None
        assert small is not None
        assert 0 < small < large / 2


def test_the_primary_key_is_made_again_and_others_have_none(tables: Tables, writer: Session) -> None:
    for cardinality in (5_000, 1_000):
        tables.settle(cardinality)
        with pytest.raises(StatementFailed):
            writer.run("INSERT INTO ft_HT1 VALUES (7, 1, 1, 1)")
    writer.run("INSERT INTO ft_HT2 VALUES (1, 1), (1, 1)")


def test_what_is_there_is_left_alone(tables: Tables, writer: Session) -> None:
    tables.settle(1_000)
    loaded: list[str] = []
    again = Tables(writer, SPECIFICATION, lambda table, done, of: loaded.append(table))
    again.prepare()
    again.settle(1_000)
    assert loaded == []
    assert again.signature() == tables.signature()


def test_a_load_that_crashed_is_made_anew(writer: Session) -> None:
    def crash(table: str, done: int, of: int) -> None:
        if table == "ft_HT1" and done >= 2_000:
            raise Crash

    first = Tables(writer, SPECIFICATION, crash)
    first._dialect.insert_rows = 1_000
    with pytest.raises(Crash):
        first.prepare()
    assert 2_000 <= int(str(rows(writer, "SELECT count(*) FROM tare_all_ft_HT1")[0][0])) < 5_000
    told: list[tuple[str, int, int]] = []
    second = Tables(writer, SPECIFICATION, lambda *progress: told.append(progress))
    second.prepare()
    second.settle(5_000)
    assert ("ft_HT1", 5_000, 5_000) in told
    assert rows(writer, "SELECT * FROM ft_HT1") == generated(VARIABLE, 5_000)


DAMAGE = {
    "a row gone": "DELETE FROM ft_HT1 WHERE id1 = 17",
    "a value changed": "UPDATE ft_HT1 SET id3 = id3 + 1 WHERE id1 = 999",
    "two rows exchanged": "UPDATE ft_HT1 SET id1 = -1 WHERE id1 = 5; UPDATE ft_HT1 SET id1 = 5 WHERE id1 = 6; "
    "UPDATE ft_HT1 SET id1 = 6 WHERE id1 = -1",
    "the table gone": "DROP TABLE ft_HT1",
}


def test_a_table_that_somebody_changed_is_made_anew(tables: Tables, writer: Session) -> None:
    tables.settle(1_000)
    for damage, sql in DAMAGE.items():
        writer.run(sql)
        again = Tables(writer, SPECIFICATION)
        again.prepare()
        again.settle(1_000)
        assert rows(writer, "SELECT * FROM ft_HT1") == generated(VARIABLE, 1_000), damage


def test_a_source_that_somebody_changed_is_never_copied_from_unnoticed(
    tables: Tables, writer: Session
) -> None:
    writer.run("UPDATE tare_all_ft_HT1 SET id2 = 0 WHERE tare_row = 500")
    with pytest.raises(TableDiffers, match="ft_HT1 does not hold the 1,000 rows"):
        tables.settle(1_000)
    again = Tables(writer, SPECIFICATION)
    again.prepare()
    again.settle(1_000)
    assert rows(writer, "SELECT * FROM ft_HT1") == generated(VARIABLE, 1_000)


def test_a_change_of_the_specification_makes_the_table_anew(tables: Tables, writer: Session) -> None:
    other = VARIABLE.model_copy(update={"seed": 9})
    again = Tables(writer, experiment(other, PLAIN))
    again.prepare()
    again.settle(1_000)
    assert rows(writer, "SELECT * FROM ft_HT1") == generated(other, 1_000) != generated(VARIABLE, 1_000)


def test_a_table_that_tare_did_not_make_is_never_touched(writer: Session) -> None:
    writer.run("CREATE TABLE ft_HT2 (precious INTEGER); INSERT INTO ft_HT2 VALUES (42)")
    with pytest.raises(ForeignTable, match="ft_HT2"):
        Tables(writer, SPECIFICATION).prepare()
    assert rows(writer, "SELECT precious FROM ft_HT2") == [(42,)]
    assert not exists(writer, "ft_HT1")


def test_a_cardinality_beyond_the_table_is_refused(tables: Tables, writer: Session) -> None:
    tables.settle(1_000)
    for cardinality in (0, -1, 5_001):
        with pytest.raises(NoSuchCardinality, match="5,000"):
            tables.settle(cardinality)
        assert len(rows(writer, "SELECT id1 FROM ft_HT1")) == 1_000


@pytest.mark.parametrize("name", ["postgresql", "postgresql15"])
def test_postgresqls_statistics_are_the_same_each_time(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """By default ANALYZE looks at 30,000 rows drawn anew."""
    large = TableSpec(name="ft_HT1", cardinality=40_000, step=20_000, seed=1)
    seen = []
    with fresh(name, request, tmp_path) as url:
        session = find(url).connect(url, allow_writes=True)
        tables = Tables(session, experiment(large))
        tables.prepare()
        for _ in range(2):
            tables.settle(40_000)
            seen.append(
                rows(
                    session,
                    "SELECT attname, n_distinct, most_common_vals::text, histogram_bounds::text, correlation "
                    "FROM pg_stats WHERE tablename = 'ft_ht1' ORDER BY attname",
                )
            )
            assert rows(session, "SELECT count(*) FROM pg_statistic_ext") == [(0,)]
            tables.settle(20_000)
        session.close()
    assert len(seen[0]) == 4
    assert seen[0] == seen[1]


def test_the_statistics_know_the_cardinality(tables: Tables, writer: Session, dbms: str) -> None:
    tables.settle(3_000)
    known = {
        "postgresql": "SELECT reltuples FROM pg_class WHERE relname = 'ft_ht1'",
        "postgresql15": "SELECT reltuples FROM pg_class WHERE relname = 'ft_ht1'",
        "mariadb": "SELECT table_rows FROM information_schema.tables WHERE table_schema = database() "
        "AND table_name = 'ft_HT1'",
        "sqlite": "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl = 'ft_HT1'",
        "duckdb": "SELECT estimated_size FROM duckdb_tables() WHERE table_name = 'ft_HT1'",
    }
    assert int(str(rows(writer, known[dbms])[0][0]).partition(".")[0]) == 3_000
