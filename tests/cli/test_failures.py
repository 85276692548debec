"""A statement that fails is reported once, with its place in its file and the next step."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.cli.running import tare
from tests.servers import make_sqlite, own_server, wait_until_it_is_back

ZERO = "division by zero"
DIVIDES = "SELECT 1 / (id - id) FROM numbers"


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("-- why\n\nSELECT id,\n  nothing\nFROM numbers", "4:3", "  nothing"),
        ("\ufeffSELECT nothing FROM numbers", "1:8", "SELECT nothing FROM numbers"),
        ("SELECT id\r\nFROM numbers\r\nWHERE id = = 5\r\n", "3:12", "WHERE id = = 5"),
        (
            "SELECT {column}, nothing FROM numbers",
            "1:18 [column=id + 1 + 2 + 3]",
            "SELECT id + 1 + 2 + 3, nothing",
        ),
    ],
)
def test_a_mistake_has_its_place_in_the_file(
    text: str, place: str, line: str, postgresql_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "q.sql"
    file.write_text(text, encoding="utf-8", newline="")
    values = ("-L", "column=id + 1 + 2 + 3") if "{" in text else ()
    said = tare("time", "-f", str(file), *values, "--db", postgresql_url)
    assert said.code == 2
    assert said.err.startswith(f"tare: {file}:{place}: ")
    shown, caret = said.err.splitlines()[1:3]
    assert shown.startswith(f"  {line}")
    assert shown[caret.index("^") :].startswith(("nothing", "= 5"))


@pytest.mark.parametrize(
    "words",
    [
        ("time", DIVIDES),
        ("time", "SELECT 1", DIVIDES),
        ("compare", "SELECT 1", DIVIDES),
        ("time", "SELECT 1", "--setup", DIVIDES),
        ("time", "SELECT 1", "--prepare", DIVIDES),
        ("time", "SELECT 1", "--conclude", DIVIDES),
    ],
    ids=lambda words: "-".join(words[0::2]).split("SELECT")[0],
)
def test_a_failure_is_reported_once(words: tuple[str, ...], postgresql_url: str, tmp_path: Path) -> None:
    said = tare(*words, "--db", postgresql_url, "--runs", "2", "--html", str(tmp_path / "out.html"))
    assert said.code == 1
    assert said.err.count(ZERO) == 1
    assert "next: correct the expression" in said.err
    assert said.out.count(ZERO) <= 1


@pytest.mark.parametrize("phase", ["--setup", "--prepare", "--conclude"])
def test_a_change_in_a_phase_without_leave_is_the_fault_of_the_request(phase: str, sqlite_url: str) -> None:
    said = tare("time", "SELECT 1", phase, "DELETE FROM numbers", "--db", sqlite_url)
    assert said.code == 2, said.err
    assert f"{phase} 'DELETE FROM numbers' failed" in said.err
    assert "--allow-writes" in said.err


def test_nothing_is_printed_but_the_failure_where_no_run_was_timed(
    postgresql_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "out.html"
    said = tare("time", DIVIDES, "--db", postgresql_url, "--html", str(file))
    assert said.out == ""
    assert said.err.count("\n") == 2
    assert ZERO in file.read_text()


def test_what_violates_a_key_in_its_second_run_is_not_tried_again(tmp_path: Path) -> None:
    words = [
        "time",
        "INSERT INTO numbers VALUES (-1, 0, 0, 'x')",
        "--allow-writes",
        "--warmup",
        "0",
        "--runs",
        "2",
    ]
    said = tare(*words, "--db", make_sqlite(tmp_path / "one.db"), "--json", "-")
    assert said.code == 1
    assert "--conclude" in said.err
    assert "--prepare" in said.err
    (query,) = said.result["results"]
    assert [qe["outcome"] for qe in query["qes"]] == ["ok", "failed"]
    assert "UNIQUE constraint failed" in said.result["error"]
    assert "runs-missing" not in {warning["type"] for warning in said.result["warnings"]}
    words += ["--conclude", "DELETE FROM numbers WHERE id < 0"]
    assert tare(*words, "--db", make_sqlite(tmp_path / "two.db")).code == 0


def test_the_line_that_reports_the_servers_end_is_quoted() -> None:
    with own_server("postgresql") as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION crash() RETURNS int LANGUAGE plpgsql AS "
                "$$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''kill -9 $PPID'''; RETURN 1; END $$"
            )
        said = tare("time", "SELECT crash()", "--db", server.url)
        wait_until_it_is_back(server.url)
        log = server.record.log
    assert said.code == 1
    assert "was terminated by signal 9" in said.err
    assert str(log) in said.err
