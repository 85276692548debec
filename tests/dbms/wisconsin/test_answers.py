"""The benchmark's answers: of every query the same on every DBMS, and what its definition says.

Each is held against plain tables of the same tuples in an SQLite of this process, so that two DBMSes that
agree with those agree with each other.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.experiment.ledger import rows
from tare.experiment.trial import conducted
from tare.measure.answer import answer_hash
from tare.measure.records import QE, Outcome
from tare.workload.wisconsin import laying
from tare.workload.wisconsin.catalogue import catalogue
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.layout import Setting, layout_of
from tare.workload.wisconsin.naming import VARIANTS
from tare.workload.wisconsin.relations import Relation, relations
from tare.workload.wisconsin.rows import write_csv
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables
from tare.workload.wisconsin.work import Wisconsin
from tests.unit.protocol.qe_records import qe
from tests.wisconsin import plain_relations

ROWS = {Generation.Y1983: 10_000, Generation.Y1993: 1_000}
TURNS = {Generation.Y1983: (1, 2), Generation.Y1993: tuple(range(1, VARIANTS + 1))}
SETTINGS = [
    (Generation.Y1983, Setting.HEAP),
    (Generation.Y1983, Setting.INDEXED),
    (Generation.Y1983, Setting.HASH),
    (Generation.Y1993, Setting.HEAP),
    (Generation.Y1993, Setting.INDEXED),
]


@lru_cache
def plain(generation: Generation) -> sqlite3.Connection:
    return plain_relations(generation, ROWS[generation])


@lru_cache
def expected(generation: Generation, query: str, turn: int) -> str:
    """The hash of the answer on plain tables."""
    database = plain(generation)
    trial = work(generation).trial(query, "", "sqlite", ROWS[generation], turn)
    for sql in trial.before:
        database.execute(sql)
    found = database.execute(trial.sql).fetchall()
    if trial.answer is not None:
        found = database.execute(trial.answer).fetchall()
    for sql in trial.after:
        database.execute(sql)
    return answer_hash(found)


@lru_cache
def expected_tuples(generation: Generation, relation: str) -> str:
    return answer_hash(plain(generation).execute(f"SELECT * FROM {relation}"))


def work(generation: Generation) -> Wisconsin:
    return Wisconsin(WisconsinSpec(generation=generation, rows=(ROWS[generation],)))


@pytest.fixture(params=SETTINGS, ids=[f"{generation}-{setting}" for generation, setting in SETTINGS])
def organised(request: pytest.FixtureRequest) -> tuple[Generation, Setting]:
    generation, setting = request.param
    return generation, setting


@pytest.fixture(scope="module", autouse=True)
def _generated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each relation is loaded into every DBMS and for every setting, and generated once."""
    folder = tmp_path_factory.mktemp("relations")

    def write(relation: Relation, large: int, to: Path) -> int:
        file = folder / f"{relation.generation}-{relation.name}.csv"
        if not file.exists():
            write_csv(relation, large, file)
        to.write_bytes(file.read_bytes())
        return relation.tuples(large)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(laying, "write_csv", write)
        yield


@pytest.fixture
def filled(dbms: str, organised: tuple[Generation, Setting], writer_of: Callable[[str], Session]) -> Session:
    generation, setting = organised
    session = writer_of(dbms)
    lacking = layout_of(session.server.dbms).lacking(Organisation.HASH)
    if setting is Setting.HASH and lacking:
        pytest.skip(lacking)
    tables = WisconsinTables(session, WisconsinSpec(generation=generation, rows=(ROWS[generation],)))
    tables.prepare()
    tables.settle(ROWS[generation], setting)
    return session


def weighed(session: Session, sql: str) -> QE:
    """The statement is executed; the times are of no account here."""
    prepared = session.prepare(sql)
    try:
        fetched = prepared.execute(None)
        return dataclasses.replace(qe(), row_count=fetched.row_count, answer_hash=answer_hash(fetched.rows()))
    finally:
        prepared.close()


def test_answers_are_those_of_the_definition_and_nothing_stays_changed(
    filled: Session, organised: tuple[Generation, Setting]
) -> None:
    generation, setting = organised
    asked = work(generation)
    names = [query.name for query in catalogue(generation) if asked.setting(query.name) == setting]
    assert names
    for name in names:
        for turn in TURNS[generation]:
            trial = asked.trial(name, "", filled.server.dbms, ROWS[generation], turn)
            found = conducted(lambda: filled, trial, lambda sql: weighed(filled, sql))
            assert found.outcome is Outcome.OK, f"{name}, turn {turn}: {found.error}"
            assert found.row_count == trial.rows
            if trial.unchanged is None:
                assert found.answer_hash == expected(generation, name, turn), (
                    f"{name}, turn {turn}: {trial.sql}"
                )
    for relation in relations(generation):
        assert answer_hash(rows(filled, f"SELECT * FROM {relation.name}")) == expected_tuples(
            generation, relation.name
        )
