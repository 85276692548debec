"""COPY … TO STDOUT on PostgreSQL: weighed with its bytes, without leave to write, and nothing else of COPY."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tare.dbms.base import Fetched, Session
from tare.dbms.postgresql.copying import copied_query
from tare.dbms.registry import find
from tare.errors import BadStatement, QueryTimeout
from tare.measure.answer import answer_hash
from tests.servers import ROWS


@pytest.fixture
def session(postgresql_url: str) -> Iterator[Session]:
    with closing(find(postgresql_url).connect(postgresql_url)) as opened:
        yield opened


def _both(session: Session, sql: str) -> list[Fetched]:
    prepared = session.prepare(sql)
    return [prepared.plan_and_execute(None), prepared.execute(None)]


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ('COPY (SELECT 1 AS "to stdout") TO STDOUT', 'SELECT 1 AS "to stdout"'),
        ("copy (select ')' -- (\n, (2)) to stdout with (format csv, header)", "select ')' -- (\n, (2)"),
        ("COPY public.t (a, b) TO STDOUT (FORMAT binary)", "SELECT a, b FROM ONLY public.t"),
        ('/* COPY x FROM */ COPY "T" TO STDOUT', 'SELECT * FROM ONLY "T"'),
        ("COPY t TO '/tmp/stdout'", None),
        ("COPY t TO PROGRAM 'cat'", None),
        ("COPY (SELECT 1 AS \"to stdout\") TO '/tmp/x'", None),
        ("COPY t FROM STDIN", None),
        ("SELECT 1", None),
        ("COPY", None),
    ],
)
def test_what_is_copied_to_the_client(sql: str, query: str | None) -> None:
    assert copied_query(sql) == query


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ("", lambda rows: sum(len(f"{i}\t{i % 7}\n") for i in rows)),
        ("(FORMAT csv, HEADER)", lambda rows: len("i,g\n") + sum(len(f"{i},{i % 7}\n") for i in rows)),
        ("(FORMAT binary)", lambda rows: 19 + len(rows) * (2 + 2 * (4 + 4)) + 2),
    ],
)
def test_rows_and_bytes_are_the_servers(session: Session, options: str, size: object) -> None:
    rows = range(1, 5001)
    sql = f"COPY (SELECT i, i % 7 AS g FROM generate_series(1, 5000) AS s(i)) TO STDOUT {options}"
    for fetched in _both(session, sql):
        assert fetched.row_count == len(rows)
        assert fetched.size_bytes == size(rows)  # type: ignore[operator]
        assert fetched.planned is None


def test_the_answer_has_no_order_and_each_byte_counts(session: Session) -> None:
    for options in ("", "(FORMAT binary)"):
        hashes = [
            answer_hash(session.prepare(f"COPY ({query}) TO STDOUT {options}").execute(None).rows())
            for query in (
                "SELECT id, val FROM numbers ORDER BY id",
                "SELECT id, val FROM numbers ORDER BY id DESC",
                "SELECT id, CASE id WHEN 77 THEN val + 1e-9 ELSE val END FROM numbers",
            )
        ]
        assert hashes[0] == hashes[1]
        assert hashes[0] != hashes[2]


def test_a_table_is_copied_and_its_plan_is_shown(session: Session) -> None:
    prepared = session.prepare("COPY numbers (id) TO STDOUT")
    assert prepared.execute(None).row_count == ROWS
    plan = session.plan_of(prepared, "")
    assert "numbers" in str(plan.root.as_json())
    assert prepared.planning_inside


def test_it_may_not_change_data_or_write_on_the_server(session: Session) -> None:
    for sql in (
        "COPY (DELETE FROM numbers RETURNING id) TO STDOUT",
        "COPY numbers TO '/tmp/tare-copied'",
        "COPY numbers TO PROGRAM 'cat > /dev/null'",
        "COPY numbers FROM STDIN",
    ):
        with pytest.raises(BadStatement, match="may change data"):
            session.prepare(sql)


def test_a_time_out_ends_it_and_the_session_goes_on(session: Session) -> None:
    prepared = session.prepare("COPY (SELECT pg_sleep(9)) TO STDOUT")
    with pytest.raises(QueryTimeout):
        prepared.execute(0.1)
    assert session.prepare("COPY (SELECT 1) TO STDOUT").execute(None).size_bytes == 2
