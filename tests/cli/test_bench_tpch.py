"""`tare bench tpch` as a user runs it: it loads, measures, names failures and compares answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tare.cli import tpch_queries
from tare.cli.tpch_queries import chosen, prepare
from tare.dbms.registry import find
from tare.errors import MissingProgram, StillWaiting, UsageError
from tare.workload.tpch.data import generator
from tests.cli.running import Said, tare
from tests.dbms.databases import fresh

needs_rows = pytest.mark.usefixtures("generates")
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/result-v1.json").read_text())


@pytest.fixture(scope="module")
def generates() -> None:
    """Skips the test where no program makes the rows."""
    try:
        generator()
    except MissingProgram as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def template(
    generates: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A database of PostgreSQL that has TPC-H's tables."""
    with fresh("postgresql", request, tmp_path_factory.getbasetemp()) as url:
        assert bench(url, "--queries", "6").code == 0
        yield url


@pytest.fixture
def loaded(template: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A copy of it."""
    with fresh("postgresql", request, tmp_path, template) as url:
        yield url


def bench(url: str, *words: str) -> Said:
    return tare("bench", "tpch", "--db", url, "--scale", "0.01", "--runs", "2", *words, timeout=300)


def by_name(said: Said) -> dict[str, dict[str, Any]]:
    assert said.out, said.err
    jsonschema.validate(said.result, SCHEMA)
    return {query["name"]: query for query in said.result["results"]}


def run(url: str, *statements: str) -> None:
    session = find(url).connect(url, allow_writes=True)
    try:
        for sql in statements:
            session.run(sql)
    finally:
        session.close()


def test_queries_that_fail_are_named_and_the_others_are_measured_and_confirmed(
    loaded: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.md"
    run(
        loaded,
        "ALTER TABLE orders RENAME COLUMN o_orderpriority TO priority",
        "ALTER TABLE part RENAME COLUMN p_type TO kind",
        "CREATE FUNCTION fails(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'planted'; END $$",
        "ALTER TABLE part RENAME TO stored_part",
        "CREATE VIEW part AS SELECT *, fails(kind) AS p_type FROM stored_part",
    )
    said = bench(loaded, "--queries", "4,14,1,6", "--json", "-", "--markdown", str(report))
    assert said.code == 1
    queries = by_name(said)
    assert "planted" in report.read_text()
    assert "o_orderpriority" in queries["Q4"]["error"]  # refused
    assert "planted" in queries["Q14"]["error"]  # while it ran
    assert [query["outcome"] for query in queries.values()] == ["failed", "failed", "ok", "ok"]
    for name in ("Q1", "Q6"):
        assert len(queries[name]["measures"]["wall_ms"]["samples"]) == 2
        assert queries[name]["answer"]["reference"] == "DuckDB"
        assert queries[name]["answer"]["reference_difference"] is None


@needs_rows
def test_an_answer_that_differs_from_duckdbs_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 't.sqlite'}"
    prepare(url, 0.01, 10.0, None)
    run(url, "UPDATE lineitem SET l_discount = 0.06")
    said = bench(url, "--queries", "6,4")
    assert said.code == 1
    assert "Q6: its answer differs from DuckDB's" in said.out
    assert "1 of 2 answers agree with DuckDB's" in said.out


@needs_rows
def test_duckdb_is_measured_and_the_report_states_that_nothing_was_compared(tmp_path: Path) -> None:
    said = bench(f"duckdb:///{tmp_path / 't.duckdb'}", "--queries", "1,6,14")
    assert said.code == 0, said.err
    assert "not compared with a reference's answers" in said.out
    assert "Q14" in said.out


def test_a_query_whose_plan_takes_longer_than_the_timeout_is_named_and_the_others_are_measured(
    loaded: str,
) -> None:
    run(
        loaded,
        "ALTER TABLE part RENAME COLUMN p_type TO kind",
        "CREATE FUNCTION slow() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM pg_sleep(600); "
        "RETURN ''; END $$",
        "ALTER TABLE part RENAME TO stored_part",
        "CREATE VIEW part AS SELECT *, slow() || kind AS p_type FROM stored_part",
    )
    said = bench(loaded, "--queries", "14,6", "--timeout", "3s", "--json", "-")
    assert said.code == 1
    queries = by_name(said)
    assert queries["Q14"]["error"].startswith(
        "Q14: a statement was given up after the time-out of 3 s, before any clock"
    )
    assert [query["outcome"] for query in queries.values()] == ["failed", "ok"]


def test_a_locked_table_ends_the_command(loaded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tpch_queries, "LEAST_WAIT_S", 0.5)
    holder = find(loaded).connect(loaded, allow_writes=True)
    try:
        holder.run("BEGIN")
        holder.run("LOCK TABLE part IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StillWaiting, match="waits for a lock"):
            prepare(loaded, 0.01, 10.0, 0.001)
    finally:
        holder.close()


def test_tables_with_other_row_counts_are_refused_and_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 't.sqlite'}"
    Path(tmp_path / "t.sqlite").touch()
    run(url, "CREATE TABLE region (mine integer)", "INSERT INTO region VALUES (7)")
    said = bench(url, "--queries", "6")
    assert said.code == 2
    assert "region has 1 rows" in said.err
    assert "lineitem is missing" in said.err
    session = find(url).connect(url)
    assert [tuple(row) for row in session.prepare("SELECT mine FROM region").execute(None).rows()] == [(7,)]
    session.close()


def test_query_numbers_are_a_list_of_numbers_and_ranges() -> None:
    assert chosen("1,5-7,6,22") == [1, 5, 6, 7, 22]
    for text in ("", "0", "23", "1,,2", "7-5", "q1", "1-", "-3"):
        with pytest.raises(UsageError):
            chosen(text)
