"""A query that changes what its next run meets: by how much, on each DBMS, and what puts it back."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from tare.dbms.registry import find
from tests.cli.running import tare

ROWS = 20_000
_INSERT = f"INSERT INTO grown SELECT id, grp FROM numbers LIMIT {ROWS}"


def _weighed(url: str, sql: str, *words: str) -> Any:
    with closing(find(url).connect(url, allow_writes=True)) as session:
        session.run("DROP TABLE IF EXISTS grown")
        session.run("CREATE TABLE grown AS SELECT id, grp FROM numbers")
    given = ("--allow-writes", "--runs", "8", "--warmup", "1", "--json", "-", *words)
    said = tare("time", sql, "--db", url, *given, "--cleanup", "DROP TABLE grown")
    assert said.code == 0, said.err
    return said.result["results"][0]["growth"]


@pytest.mark.parametrize(
    ("dbms", "put_back"),
    [
        ("postgresql", "TRUNCATE grown"),
        ("mariadb", "TRUNCATE TABLE grown"),
        ("sqlite", "DELETE FROM grown"),
        ("duckdb", "CREATE OR REPLACE TABLE grown (id integer, grp integer)"),
    ],
)
def test_inserted_rows(dbms: str, put_back: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    grown = _weighed(url, _INSERT)
    if dbms in ("postgresql", "duckdb"):  # which count rows
        assert (grown["table"], grown["live_rows"], grown["dead_rows"]) == ("grown", ROWS, 0)
    if dbms != "duckdb":  # which keeps them in its log until a checkpoint
        assert grown["size_bytes"] > 8 * ROWS
    assert _weighed(url, _INSERT, "--prepare", put_back) is None


def test_replaced_rows_of_postgresql(postgresql_url: str) -> None:
    update = "UPDATE grown SET grp = grp + 1"
    off = ("--setup", "ALTER TABLE grown SET (autovacuum_enabled = off)")
    grown = _weighed(postgresql_url, update, *off)
    assert grown["table"] == "grown"
    assert grown["dead_rows"] == pytest.approx(ROWS, rel=0.05)  # some are pruned when their page is read
    assert grown["size_bytes"] > 8 * ROWS
    assert _weighed(postgresql_url, update, *off, "--conclude", "VACUUM FULL grown") is None


def test_a_query_that_may_not_write_is_not_looked_at(sqlite_url: str) -> None:
    said = tare("time", "SELECT 1", "--db", sqlite_url, "--runs", "2", "--warmup", "0", "--json", "-")
    assert said.result["results"][0]["growth"] is None


def test_an_answer_that_the_query_itself_changes_names_what_puts_it_back(sqlite_url: str) -> None:
    with closing(find(sqlite_url).connect(sqlite_url, allow_writes=True)) as session:
        session.run("CREATE TABLE doubled AS SELECT 1 AS i")
    words = ("--allow-writes", "--runs", "3", "--warmup", "0", "--cleanup", "DROP TABLE doubled")
    said = tare("time", "INSERT INTO doubled SELECT i FROM doubled", "--db", sqlite_url, *words)
    assert said.code == 1
    assert "gave 2 rows" in said.err
    assert "--prepare or --conclude" in said.err
