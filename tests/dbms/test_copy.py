"""COPY … TO STDOUT is weighed as a query is, with its bytes counted."""

from __future__ import annotations

import pytest

from tare.dbms.registry import find
from tare.dbms.statement import copied_out
from tare.errors import BadStatement, QueryTimeout
from tests.cli.running import tare


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ("COPY numbers TO STDOUT", "SELECT * FROM numbers"),
        ("copy public.numbers (id, txt) to stdout with (format csv)", "SELECT id, txt FROM public.numbers"),
        ("COPY (SELECT count(*) FROM numbers WHERE id IN (1, 2)) TO STDOUT (FORMAT binary);",
         "SELECT count(*) FROM numbers WHERE id IN (1, 2)"),
        ("/* all */ COPY numbers TO STDOUT", "SELECT * FROM numbers"),
        ("COPY numbers TO '/tmp/stdout'", None),
        ("COPY numbers TO PROGRAM 'cat'", None),
        ("COPY numbers FROM STDIN", None),
        ("SELECT 1", None),
    ],
)  # fmt: skip
def test_the_query_within_is_found(sql: str, query: str | None) -> None:
    assert copied_out(sql) == query


def test_its_rows_and_bytes_are_counted(postgresql_url: str) -> None:
    said = tare("time", "COPY (SELECT id FROM numbers WHERE id < 1000) TO STDOUT", "--db", postgresql_url,
                "--runs", "3", "--json", "-")  # fmt: skip
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert query["answer"]["rows"] == 999
    assert query["answer"]["bytes"] == sum(len(f"{i}\n") for i in range(1, 1000))
    assert query["answer"]["consistent"]
    assert "Index" in query["plan"]["text"]
    shown = tare("time", "COPY numbers TO STDOUT", "--db", postgresql_url, "--runs", "2").out
    assert "20000 rows, " in shown
    assert "KiB" in shown


def test_copy_that_changes_or_writes_elsewhere_is_refused(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url)
    try:
        for sql in (
            "COPY numbers TO PROGRAM 'cat'",
            "COPY (SELECT 1) TO STDOUT; SELECT 2",
            "COPY (INSERT INTO numbers VALUES (-1) RETURNING id) TO STDOUT",
            "COPY (WITH a AS (DELETE FROM numbers RETURNING id) SELECT * FROM a) TO STDOUT",
        ):
            with pytest.raises(BadStatement):
                session.prepare(sql).execute(10)
    finally:
        session.close()


def test_a_copy_that_takes_too_long_is_cancelled_and_the_session_goes_on(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url)
    try:
        slow = session.prepare("COPY (SELECT id, pg_sleep(0.001) FROM numbers) TO STDOUT")
        with pytest.raises(QueryTimeout):
            slow.execute(0.3)
        assert session.prepare("COPY (SELECT 7) TO STDOUT").execute(10).byte_count == 2
    finally:
        session.close()
