"""Files of several statements: all of them, one of them, and how they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Said, tare

USAGE = 2
_CLICKBENCH = """SELECT count(*) FROM numbers;
SELECT count(*) FROM numbers WHERE grp <> 0;
SELECT sum(id) FROM numbers;
"""
_TPCH = """-- using 1433771997 as a seed to the RNG


-- name: pricing_summary :many
select
    grp, sum(val)
from
    numbers
where
    txt <> 'a;b'
group by grp;

-- name: twice
select max(id) from numbers;
-- name: twice
select min(id) from numbers;
"""


def _weighed(*words: str, url: str) -> Said:
    said = tare("time", *words, "--db", url, "--runs", "1", "--warmup", "0", "--json", "-")
    assert said.code == 0, said.err
    return said


def _names_and_sql(said: Said) -> list[tuple[str, str]]:
    return [(one["name"], one["sql"].removesuffix(";")) for one in said.result["results"]]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    file = tmp_path / "queries.sql"
    file.write_text(_CLICKBENCH)
    return file


def test_each_statement_is_a_query_with_its_number(sqlite_url: str, queries: Path) -> None:
    lines = [line.removesuffix(";") for line in _CLICKBENCH.splitlines()]
    expected = [(f"queries:{number}", line) for number, line in enumerate(lines, 1)]
    assert _names_and_sql(_weighed("-f", str(queries), "--each", url=sqlite_url)) == expected


def test_one_statement_by_its_number(sqlite_url: str, queries: Path) -> None:
    said = _weighed("-f", f"{queries}:3", "SELECT 1", "-f", f"{queries}:1", url=sqlite_url)
    assert [name for name, _ in _names_and_sql(said)] == ["queries:3", "SELECT 1", "queries:1"]
    assert said.result["results"][0]["sql"].startswith("SELECT sum(id)")


def test_a_file_whose_name_ends_so_wins(sqlite_url: str, queries: Path) -> None:
    Path(f"{queries}:3").write_text("SELECT 42")
    assert _names_and_sql(_weighed("-f", f"{queries}:3", url=sqlite_url)) == [("queries", "SELECT 42")]


def test_comments_name_statements_unless_two_have_one_name(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "tpch.sql"
    file.write_text(_TPCH)
    names = [name for name, _ in _names_and_sql(_weighed("-f", str(file), "--each", url=sqlite_url))]
    assert names == ["pricing_summary", "tpch:2", "tpch:3"]


def test_a_file_of_one_statement_has_its_own_name(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT {n};\n")
    (tmp_path / "b.sql").write_text("SELECT {n}; SELECT 2 * {n}")
    names = [
        name
        for name, _ in _names_and_sql(_weighed("-f", str(tmp_path), "--each", "-L", "n=7", url=sqlite_url))
    ]
    assert names == ["a [n=7]", "b:1 [n=7]", "b:2 [n=7]"]


def test_a_number_that_is_not_there(sqlite_url: str, queries: Path) -> None:
    for number in ("0", "4"):
        said = tare("time", "-f", f"{queries}:{number}", "--db", sqlite_url)
        assert said.code == USAGE
        assert "holds 3 statements" in said.err
        assert "from 1 to 3" in said.err
    said = tare("time", "-f", "missing.sql:1", "--db", sqlite_url)
    assert said.code == USAGE
    assert "cannot read missing.sql:" in said.err


@pytest.mark.parametrize("dbms", ["postgresql", "mariadb", "sqlite", "duckdb"])
def test_several_statements_name_both_ways(dbms: str, queries: Path, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    said = tare("time", "-f", str(queries), "--db", url)
    assert said.code == USAGE
    for words in ("several statements", "--each", "-f FILE:2"):
        assert words in said.err


def test_two_of_a_file_are_compared(sqlite_url: str, queries: Path) -> None:
    words = ("-f", f"{queries}:2", "-f", f"{queries}:1", "--answer", "any", "--runs", "2", "--warmup", "0")
    said = tare("compare", *words, "--db", sqlite_url, "--json", "-")
    assert said.code == 0, said.err
    assert (said.result["comparison"]["a"], said.result["comparison"]["b"]) == ("queries:2", "queries:1")
