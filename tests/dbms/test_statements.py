"""Prepared execution, answers, and statements that must be refused."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from tare.dbms.base import Session
from tare.errors import BadStatement, QueryTimeout, StatementFailed
from tests.servers import ROWS

COUNT = "SELECT count(*) FROM numbers"
GROUPS = "SELECT grp, count(*), sum(val), min(txt) FROM numbers WHERE id <= 5000 GROUP BY grp ORDER BY grp"
SLOW = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.val + b.val < c.val"


def plain(row: object) -> list[object]:
    return [float(value) if isinstance(value, Decimal | float) else value for value in row]  # type: ignore[attr-defined]


def test_a_prepared_statement_gives_its_rows_every_time(session: Session) -> None:
    prepared = session.prepare("SELECT id, grp, val, txt FROM numbers WHERE id <= 3 ORDER BY id")
    for _ in range(3):
        fetched = prepared.execute(10)
        assert fetched.row_count == 3
        assert [plain(row) for row in fetched.rows()] == [
            [1, 1, 0.5, "t1"],
            [2, 2, 1.0, "t2"],
            [3, 3, 1.5, "t3"],
        ]
    prepared.close()


def test_answers_are_equal_on_every_dbms(session: Session) -> None:
    rows = [plain(row) for row in session.prepare(GROUPS).execute(10).rows()]
    assert len(rows) == 100
    assert rows[7] == [7, 50, sum(id_ / 2 for id_ in range(7, 5000, 100)), "t1007"]
    assert sum(row[1] for row in rows) == 5000  # type: ignore[misc]


def test_a_large_result_is_received_whole_and_can_be_read_twice(session: Session) -> None:
    fetched = session.prepare("SELECT id FROM numbers").execute(10)
    assert fetched.row_count == ROWS
    assert {row[0] for row in fetched.rows()} == set(range(1, ROWS + 1))
    assert sum(1 for _ in fetched.rows()) == ROWS


def test_an_earlier_result_outlives_the_next_execution(session: Session) -> None:
    prepared = session.prepare("SELECT id FROM numbers WHERE id < 3")
    first, second = prepared.execute(10), prepared.execute(10)
    assert sorted(first.rows()) == sorted(second.rows()) == [(1,), (2,)]


def test_an_empty_result_has_no_rows(session: Session) -> None:
    fetched = session.prepare("SELECT id FROM numbers WHERE id < 0").execute(10)
    assert fetched.row_count == 0
    assert list(fetched.rows()) == []


def test_text_with_quotes_and_other_scripts_travels_unharmed(session: Session) -> None:
    (row,) = (
        session.prepare("SELECT 'O''Reilly', 'größer ≥ 100 %s ?', txt FROM numbers WHERE id = 1")
        .execute(5)
        .rows()
    )
    assert list(row) == ["O'Reilly", "größer ≥ 100 %s ?", "t1"]


@pytest.mark.parametrize("sql", ["", "   ", ";", "-- nothing", "/* nothing */ ; "])
def test_empty_sql_is_refused(session: Session, sql: str) -> None:
    with pytest.raises(BadStatement, match="empty"):
        session.prepare(sql)


def test_several_statements_are_refused_and_none_is_run(writing: Session) -> None:
    with pytest.raises(BadStatement, match="several"):
        writing.prepare("SELECT 1; DELETE FROM numbers")
    assert list(writing.prepare(COUNT).execute(10).rows()) == [(ROWS,)]


def test_a_second_statement_behind_an_explained_one_is_not_run(writing: Session) -> None:
    with pytest.raises((BadStatement, StatementFailed)):
        writing.explain("SELECT 1; DELETE FROM numbers")
    assert list(writing.prepare(COUNT).execute(10).rows()) == [(ROWS,)]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO numbers VALUES (-1, 0, 0, 'x')",
        "UPDATE numbers SET val = 0",
        "DELETE FROM numbers",
        "DROP TABLE numbers",
        "CREATE TABLE other (id integer)",
        "CREATE INDEX other ON numbers (grp)",
        "/* harmless? */ (((delete from numbers",
    ],
)
def test_a_statement_that_changes_data_needs_leave(session: Session, sql: str) -> None:
    with pytest.raises((BadStatement, StatementFailed)) as refused:
        session.prepare(sql).execute(10)
    if "(((" not in sql:
        assert isinstance(refused.value, BadStatement)
        assert "--allow-writes" in str(refused.value)
    assert list(session.prepare(COUNT).execute(10).rows()) == [(ROWS,)]


def test_the_dbms_itself_refuses_changes_by_set_up_statements(session: Session) -> None:
    with pytest.raises(BadStatement, match="--allow-writes"):
        session.run("UPDATE numbers SET val = 0")
    assert list(session.prepare("SELECT val FROM numbers WHERE id = 8").execute(5).rows()) == [(4.0,)]


def test_with_leave_data_can_be_changed(writing: Session) -> None:
    writing.run("CREATE TABLE scratch (id integer)")
    try:
        insert = writing.prepare("INSERT INTO scratch SELECT id FROM numbers WHERE id <= 12")
        assert insert.execute(10).row_count == 12
        insert.execute(10)
        assert list(writing.prepare("SELECT count(*) FROM scratch").execute(5).rows()) == [(24,)]
    finally:
        writing.run("DROP TABLE scratch")


def test_several_set_up_statements_are_run_in_turn(writing: Session) -> None:
    writing.run("CREATE TABLE scratch (id integer); INSERT INTO scratch VALUES (1); DROP TABLE scratch")
    with pytest.raises(StatementFailed):
        writing.prepare("SELECT * FROM scratch").execute(5)


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT nothing FROM numbers", "SELECT * FROM nowhere"])
def test_a_failing_statement_shows_the_servers_message(session: Session, sql: str) -> None:
    with pytest.raises((StatementFailed, BadStatement)) as failed:
        session.prepare(sql).execute(5)
    assert any(word in str(failed.value) for word in ("SELEC", "nothing", "nowhere"))
    assert list(session.prepare(COUNT).execute(5).rows()) == [(ROWS,)]


def test_a_statement_that_fails_while_it_runs_leaves_the_session_usable(session: Session, dbms: str) -> None:
    two_rows = "SELECT (SELECT id FROM numbers n WHERE n.id IN (m.id, m.id + 1)) FROM numbers m"
    failing = {
        "mariadb": two_rows,
        "mysql": two_rows,
        "sqlite": "SELECT abs(-9223372036854775807 - 1 + id - id) FROM numbers",
        "duckdb": "SELECT cast(txt AS integer) FROM numbers",
    }.get(dbms, "SELECT 1 / (id - 700) FROM numbers")
    prepared = session.prepare(failing)
    for _ in range(2):
        with pytest.raises(StatementFailed):
            prepared.execute(10)
    assert list(session.prepare(COUNT).execute(5).rows()) == [(ROWS,)]


def test_a_large_statement_is_sent_whole(session: Session) -> None:
    """Larger than any socket's buffer, and than the packets of MySQL 5.6 once it is in hexadecimal."""
    prepared = session.prepare(f"SELECT length('{'x' * 3_000_000}')")
    assert list(prepared.execute(30).rows()) == [(3_000_000,)]


def test_a_query_that_runs_too_long_is_ended_in_time(session: Session) -> None:
    prepared = session.prepare(SLOW)
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(QueryTimeout, match=r"0\.3 s"):
            prepared.execute(0.3)
        assert 0.25 < time.monotonic() - began < 2.5
    assert list(session.prepare(COUNT).execute(5).rows()) == [(ROWS,)]


def test_a_time_out_that_is_not_reached_changes_nothing(session: Session) -> None:
    prepared = session.prepare(COUNT)
    for timeout_s in (None, 5, 60.5, None):
        assert list(prepared.execute(timeout_s).rows()) == [(ROWS,)]
