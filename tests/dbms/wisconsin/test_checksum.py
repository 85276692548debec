"""The checksum of the Wisconsin relations: every DBMS answers the generator's, and any fault in a table changes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.experiment import ledger
from tare.measure.answer import answer_hash
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.layout import layout_of
from tare.workload.wisconsin.relation import Relation
from tare.workload.wisconsin.relations import relation, relations
from tare.workload.wisconsin.rows import checksum, checksum_sql, write_csv
from tests.dbms.databases import fresh

ROWS = 10_000

FAULTS = {
    "a tuple is missing": "DELETE FROM {t} WHERE unique2 = 77",
    "a tuple is there twice": "INSERT INTO {t} SELECT * FROM {t} WHERE unique2 = 77",
    "one tuple stands for another": "UPDATE {t} SET unique2 = 77 WHERE unique2 = 78",
    "two tuples have exchanged their keys": "UPDATE {t} SET unique1 = CASE unique2 WHEN 5 THEN "
    "(SELECT k FROM (SELECT unique1 AS k FROM {t} WHERE unique2 = 6) AS a) ELSE "
    "(SELECT k FROM (SELECT unique1 AS k FROM {t} WHERE unique2 = 5) AS b) END WHERE unique2 IN (5, 6)",
    "a small attribute differs": "UPDATE {t} SET four = 3 - four WHERE unique2 = 77",
    "a string belongs to another tuple": "UPDATE {t} SET stringu1 = "
    "(SELECT s FROM (SELECT stringu1 AS s FROM {t} WHERE unique2 = 6) AS a) WHERE unique2 = 5",
    "a string is cut short": "UPDATE {t} SET stringu2 = substr(stringu2, 1, 51) WHERE unique2 = 77",
    "a letter in the midst of a string differs": "UPDATE {t} SET string4 = replace(string4, 'xx', 'xy') "
    "WHERE unique2 = 80",
    "the relation is empty": "DELETE FROM {t}",
}


@pytest.fixture
def empty(dbms: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with fresh(dbms, request, tmp_path) as url:
        session = find(url).connect(url, allow_writes=True)
        try:
            yield session
        finally:
            session.close()


@pytest.mark.parametrize("generation", Generation)
def test_every_dbms_answers_the_generators_checksum(
    empty: Session, tmp_path: Path, generation: Generation
) -> None:
    for one in relations(generation):
        made(empty, one, tmp_path)
        assert answered(empty, one) == answer_hash([checksum(one, ROWS)]), one.name


@pytest.mark.parametrize("name", ["onektup", "thoustup"])
def test_no_fault_goes_unnoticed(empty: Session, tmp_path: Path, name: str) -> None:
    one = relation(Generation.Y1993 if name == "onektup" else Generation.Y1983, name)
    right = answer_hash([checksum(one, ROWS)])
    for fault, sql in FAULTS.items():
        made(empty, one, tmp_path)
        assert answered(empty, one) == right
        empty.run(sql.format(t=one.name))
        assert answered(empty, one) != right, fault


def made(session: Session, one: Relation, tmp_path: Path) -> None:
    file = tmp_path / f"{one.name}.csv"
    if not file.exists():
        write_csv(one, ROWS, file)
    session.run(f"DROP TABLE IF EXISTS {one.name}")
    session.run(layout_of(session.server.dbms).create(one.name, one.attributes))
    assert session.load(one.name, file) == one.tuples(ROWS)


def answered(session: Session, one: Relation) -> str:
    """As a hash, in which equal numbers of different types are equal."""
    return answer_hash(ledger.rows(session, checksum_sql(one.name)))
