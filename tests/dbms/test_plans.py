"""EXPLAIN → tree → fingerprint."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tare.dbms.base import PlanNode, Session

JOIN = "SELECT a.grp, count(*) FROM numbers a JOIN numbers b ON a.id = b.grp WHERE b.val > {} GROUP BY a.grp"


def nodes(node: PlanNode) -> Iterator[PlanNode]:
    yield node
    for child in node.children:
        yield from nodes(child)


def test_a_plan_has_a_tree_and_a_text(session: Session) -> None:
    plan = session.explain(JOIN.format(17))
    assert len(list(nodes(plan.root))) >= 3
    assert "numbers" in plan.text or re.search(r"\b[ab]\b", plan.text)
    assert re.fullmatch("[0-9a-f]{16}", plan.fingerprint)


def test_literals_are_not_part_of_the_fingerprint(session: Session) -> None:
    assert session.explain(JOIN.format(17)).fingerprint == session.explain(JOIN.format(18.25)).fingerprint
    texts = [
        session.explain(f"SELECT id FROM numbers WHERE txt = '{text}'") for text in ("t5", "t5''s \"7\"")
    ]
    assert texts[0].fingerprint == texts[1].fingerprint
    assert "t5" not in str(texts[0].root)


def test_no_cost_is_in_the_tree(writing: Session) -> None:
    """The same query over ten times the rows has other costs and estimates, and the same tree."""
    sql = "SELECT count(*) FROM scratch WHERE k > 2"
    writing.run("CREATE TABLE scratch (k integer)")
    try:
        writing.run("INSERT INTO scratch SELECT id FROM numbers WHERE id <= 1000")
        few = writing.explain(sql)
        writing.run("INSERT INTO scratch SELECT id FROM numbers WHERE id <= 10000")
        many = writing.explain(sql)
    finally:
        writing.run("DROP TABLE scratch")
    assert few.root == many.root


def test_another_query_has_another_fingerprint(session: Session) -> None:
    plans = {
        session.explain(sql).fingerprint
        for sql in (
            "SELECT count(*) FROM numbers",
            "SELECT id FROM numbers ORDER BY txt",
            "SELECT a.id FROM numbers a JOIN numbers b ON a.grp = b.id",
        )
    }
    assert len(plans) == 3


def test_a_new_index_changes_the_fingerprint(writing: Session) -> None:
    sql = "SELECT val FROM numbers WHERE txt = 't77'"
    before = writing.explain(sql)
    writing.run("CREATE INDEX numbers_txt ON numbers (txt)")
    try:
        with_index = writing.explain(sql)
    finally:
        on = " ON numbers" if writing.server.dbms in ("mariadb", "mysql") else ""
        writing.run(f"DROP INDEX numbers_txt{on}")
    assert with_index.fingerprint != before.fingerprint
    assert "numbers_txt" in str(with_index.root)
    assert writing.explain(sql).fingerprint == before.fingerprint


def test_explaining_runs_nothing(writing: Session) -> None:
    writing.explain("DELETE FROM numbers")
    assert list(writing.prepare("SELECT count(*) FROM numbers").execute(5).rows()) == [(20_000,)]


def test_a_statement_without_a_plan_says_so(session: Session, dbms: str) -> None:
    sql = {"sqlite": "PRAGMA user_version", "duckdb": "PRAGMA database_size"}.get(dbms, "SHOW " + _any(dbms))
    plan = session.explain(sql)
    assert plan.text
    assert plan.fingerprint == session.explain(sql).fingerprint


def _any(dbms: str) -> str:
    return "TABLES" if dbms in ("mariadb", "mysql") else "work_mem"
