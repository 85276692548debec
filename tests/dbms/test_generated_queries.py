"""Generated queries run on every DBMS, and all give one answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.experiment.generator import generate
from tare.experiment.ledger import rows
from tare.experiment.specification import GenerateSpec
from tare.experiment.tables import Tables
from tare.measure.answer import answer_hash
from tests.dbms.conftest import WITHOUT_MYSQL
from tests.dbms.databases import fresh
from tests.unit.experiment.specifications import experiment, four_tables

CARDINALITY = 2_000
QUERIES = {"sqlite": 100, "duckdb": 100, "postgresql": 40, "postgresql15": 20, "mariadb": 20}

SPECIFICATION = experiment(*four_tables(CARDINALITY))
ASKED = GenerateSpec(count=max(QUERIES.values()), seed=11)


def answers(session: Session, cardinality: int, count: int) -> list[str]:
    tables = Tables(session, SPECIFICATION)
    tables.prepare()
    tables.settle(cardinality)
    return [answer_hash(rows(session, query.sql)) for query in generate(ASKED, SPECIFICATION.tables)[:count]]


@pytest.fixture(scope="module")
def sqlite_answers(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """SQLite's answers by cardinality, with which those of the other DBMSes are compared."""
    from tests.dbms.databases import empty_sqlite

    url = empty_sqlite(tmp_path_factory.mktemp("reference"))

    @cache
    def answered(cardinality: int) -> list[str]:
        session = find(url).connect(url, allow_writes=True)
        try:
            return answers(session, cardinality, ASKED.count)
        finally:
            session.close()

    return answered


@pytest.mark.parametrize("cardinality", [CARDINALITY, CARDINALITY // 5])
@pytest.mark.parametrize("name", [n for n in WITHOUT_MYSQL if n != "sqlite"])
def test_every_dbms_gives_the_answers_that_sqlite_gives(  # type: ignore[no-untyped-def]
    name: str, cardinality: int, sqlite_answers, writer_of: Callable[[str], Session]
) -> None:
    found = answers(writer_of(name), cardinality, QUERIES[name])
    expected = sqlite_answers(cardinality)[: QUERIES[name]]
    queries = generate(ASKED, SPECIFICATION.tables)
    differing = [query.sql for query, a, b in zip(queries, found, expected, strict=False) if a != b]
    assert len(found) == len(expected) == QUERIES[name]
    assert differing == []


def test_the_answers_tell_the_queries_apart(sqlite_answers) -> None:  # type: ignore[no-untyped-def]
    """Else a hundred empty answers would agree everywhere."""
    assert len(set(sqlite_answers(CARDINALITY))) > 80
    assert sqlite_answers(CARDINALITY) != sqlite_answers(CARDINALITY // 5)


def test_a_hundred_queries_have_a_plan_on_sqlite(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with fresh("sqlite", None, tmp_path) as url:
        session = find(url).connect(url, allow_writes=True)
        tables = Tables(session, SPECIFICATION)
        tables.prepare()
        tables.settle(CARDINALITY)
        prints = {session.explain(query.sql).fingerprint for query in generate(ASKED, SPECIFICATION.tables)}
        session.close()
    assert len(prints) > 40
