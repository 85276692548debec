"""The checksum of the Wisconsin relations: every DBMS answers the generator's, and any fault in a table changes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.experiment import ledger
from tare.measure.answer import answer_hash
from tare.workload.wisconsin.checksum import checksum, checksum_sql
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.layout import layout_of
from tare.workload.wisconsin.relations import Relation, relation, relations
from tare.workload.wisconsin.rows import write_csv

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


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The relations' files, each made when it is first loaded."""
    return tmp_path_factory.mktemp("relations")


@pytest.fixture
def session(dbms: str, writer_of: Callable[[str], Session]) -> Session:
    return writer_of(dbms)


@lru_cache
def right(relation: Relation) -> str:
    return answer_hash([checksum(relation, ROWS)])


@pytest.mark.parametrize("generation", Generation)
def test_every_dbms_answers_the_generators_checksum(
    session: Session, files: Path, generation: Generation
) -> None:
    for one in relations(generation):
        made(session, one, files)
        assert answered(session, one) == right(one), one.name


@pytest.mark.parametrize("name", ["onektup", "thoustup"])
def test_no_fault_goes_unnoticed(session: Session, files: Path, name: str) -> None:
    one = relation(Generation.Y1993 if name == "onektup" else Generation.Y1983, name)
    for fault, sql in FAULTS.items():
        made(session, one, files)
        assert answered(session, one) == right(one)
        session.run(sql.format(t=one.name))
        assert answered(session, one) != right(one), fault


def made(session: Session, one: Relation, files: Path) -> None:
    file = files / f"{one.name}.csv"
    if not file.exists():
        write_csv(one, ROWS, file)
    session.run(f"DROP TABLE IF EXISTS {one.name}")
    session.run(layout_of(session.server.dbms).create(one.name, one.attributes))
    assert session.load(one.name, file) == one.tuples(ROWS)


def answered(session: Session, one: Relation) -> str:
    """Hash of the checksum's answer, in which equal numbers of different types are equal."""
    return answer_hash(ledger.rows(session, checksum_sql(one.name)))
