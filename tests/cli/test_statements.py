"""Files of many statements, standard input, and what stands in such files that is no SQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import Said, environment, tare

QUICK = ("--runs", "1", "--warmup", "0", "--json", "-")
THREE = (
    "-- counts\nSELECT count(*) FROM numbers;\nSELECT sum(id) FROM numbers;\n\nSELECT max(txt) FROM numbers\n"
)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "queries.sql"
    path.write_text(THREE)
    return path


def fed(text: str, *words: str, **more: str) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "tare", *words], input=text.encode(), capture_output=True, timeout=120,
        env=environment(**more), check=False,
    )  # fmt: skip
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_file_of_many_statements_says_how_many_there_are_and_where(sqlite_url: str, three: Path) -> None:
    said = tare("time", "-f", str(three), "--db", sqlite_url)
    assert said.code == 2
    assert "holds 3 statements (1 at line 2, 2 at line 3, 3 at line 5)" in said.err
    assert "--each" in said.err
    assert f"-f {three}:2" in said.err


def test_each_weighs_every_statement_and_a_number_weighs_that_one(duckdb_url: str, three: Path) -> None:
    said = tare("time", "-f", str(three), "--each", "--db", duckdb_url, *QUICK)
    assert [one["name"] for one in said.result["results"]] == ["queries:1", "queries:2", "queries:3"]
    assert said.result["results"][2]["sql"] == "SELECT max(txt) FROM numbers"
    said = tare("time", "-f", f"{three}:2", "--db", duckdb_url, *QUICK)
    assert [one["sql"] for one in said.result["results"]] == ["SELECT sum(id) FROM numbers"]
    said = tare("time", "-f", f"{three}:4", "--db", duckdb_url)
    assert said.code == 2
    assert "has no statement 4: 3 statements" in said.err


def test_standard_input_is_a_file_too(sqlite_url: str) -> None:
    said = fed("SELECT count(*) FROM numbers;\n", "time", "-f", "-", "--db", sqlite_url, *QUICK)
    assert said.code == 0, said.err
    assert said.result["results"][0]["name"] == "stdin"
    said = fed(THREE, "time", "-f", "-", "--db", sqlite_url)
    assert "standard input holds 3 statements" in said.err


def test_a_client_s_command_is_named_with_what_to_do(sqlite_url: str, tmp_path: Path) -> None:
    path = tmp_path / "psql.sql"
    path.write_text("\\timing on\nSELECT 1;\n")
    said = tare("time", "-f", str(path), "--db", sqlite_url)
    assert said.code == 2
    assert "a command of psql, which is no SQL: \\timing on (line 1)" in said.err
    assert "next: delete it: Tare measures the time itself" in said.err


@pytest.mark.parametrize(
    ("server", "sql", "parameter"),
    [
        ("postgresql_url", "SELECT count(*) FROM numbers WHERE id < $1", "$1"),
        ("postgresql_url", "SELECT count(*) FROM numbers WHERE id < :n", ":n"),
        ("mariadb_url", "SELECT count(*) FROM numbers WHERE id < ?", "?"),
        ("sqlite_url", "SELECT count(*) FROM numbers WHERE id < :n", ":n"),
        ("duckdb_url", "SELECT count(*) FROM numbers WHERE id < ?", "?"),
    ],
)
def test_a_parameter_without_a_value_is_named(
    server: str, sql: str, parameter: str, request: pytest.FixtureRequest
) -> None:
    said = tare("time", sql, "--db", request.getfixturevalue(server), "--runs", "1")
    assert said.code == 2, said.out
    assert f"next: {parameter}: a parameter has no value here" in said.err
    assert "-L name=V1,V2" in said.err


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}]
)
def test_unicode_goes_through_any_locale(sqlite_url: str, tmp_path: Path, locale: dict[str, str]) -> None:
    sql = "SELECT 'größer – ☃'"
    for more in ((), ("-v",), ("--markdown", "-")):
        said = fed("", "time", sql, "--db", sqlite_url, "--runs", "2", *more, **locale)
        assert said.code == 0, said.err
        assert "Traceback" not in said.err
    said = fed("", "time", sql, "--db", sqlite_url, *QUICK, **locale)
    assert said.result["results"][0]["sql"] == sql
    said = fed(sql, "time", "-f", "-", "--db", sqlite_url + "ü", **locale)
    assert said.code == 1
    assert "there is no file" in said.err
    assert "dbü" in said.err


def test_a_locale_that_lacks_a_sign_gets_another(sqlite_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tare", "time", "SELECT 1", "--db", sqlite_url, "--runs", "2", "-v"],
        capture_output=True, timeout=120, env=environment(PYTHONIOENCODING="latin-1"), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "µs" in done.stdout.decode("latin-1")
    assert "Traceback" not in done.stderr.decode("latin-1")
