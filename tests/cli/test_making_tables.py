"""`tare time` weighs statements that make a table: what they made is there when the run is over."""

from __future__ import annotations

import pytest

from tests.cli.running import tare

ROWS = "SELECT grp, count(*) AS n FROM numbers GROUP BY grp"
MADE = [
    ("postgresql", f"CREATE TABLE made AS {ROWS}", "TABLE", 100),
    ("postgresql", f"CREATE TABLE IF NOT EXISTS made AS {ROWS}", "TABLE", 100),
    ("postgresql", f"CREATE TABLE made AS {ROWS} WITH NO DATA", "TABLE", 0),
    ("postgresql", "SELECT grp, count(*) AS n INTO made FROM numbers GROUP BY grp", "TABLE", 100),
    ("postgresql", f"CREATE MATERIALIZED VIEW made AS {ROWS}", "MATERIALIZED VIEW", 100),
    pytest.param("mariadb", f"CREATE TABLE made AS {ROWS}", "TABLE", 100, marks=pytest.mark.mariadb),
    ("duckdb", f"CREATE TABLE made AS {ROWS}", "TABLE", None),
    ("sqlite", f"CREATE TABLE made AS {ROWS}", "TABLE", None),
]


@pytest.mark.parametrize(("dbms", "sql", "kind", "rows"), MADE)
@pytest.mark.parametrize("phase", ["conclude", "prepare"])
def test_a_statement_that_makes_a_table_is_weighed(
    phase: str, dbms: str, sql: str, kind: str, rows: int | None, request: pytest.FixtureRequest
) -> None:
    drop = f"DROP {kind} IF EXISTS made"
    said = tare(
        "time", sql, "--db", request.getfixturevalue(f"{dbms}_url"), "--allow-writes", "--runs", "3", "--warmup", "1",
        f"--{phase}", drop, "--cleanup", drop, "--json", "-",
    )  # fmt: skip
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert query["plan"]["consistent"]
    assert sum(one["sample"] is not None for one in query["qes"]) == 3
    if rows is not None:
        assert query["answer"]["rows"] == rows
    if dbms == "postgresql":
        assert "numbers" in query["plan"]["text"]


def test_a_table_that_nothing_drops_is_named_in_the_second_run(postgresql_url: str) -> None:
    said = tare(
        "time", f"CREATE TABLE made AS {ROWS}", "--db", postgresql_url, "--allow-writes", "--warmup", "0",
        "--cleanup", "DROP TABLE IF EXISTS made",
    )  # fmt: skip
    assert said.code == 1
    assert "already exists" in said.err
