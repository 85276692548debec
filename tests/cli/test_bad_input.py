"""Messages and exit codes of what can go wrong: what happened, to what, and what to do next."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.running import start, tare, wait_until_it_ran

USAGE, RUN, CTRL_C = 2, 1, 130


def assert_says(said: object, code: int, *words: str) -> None:
    assert said.code == code, said.err  # type: ignore[attr-defined]
    for word in words:
        assert word in said.err, said.err  # type: ignore[attr-defined]
    assert "Traceback" not in said.err  # type: ignore[attr-defined]


def test_no_query(sqlite_url: str) -> None:
    assert_says(tare("time", "--db", sqlite_url), USAGE, "no query to weigh", "next:")


def test_no_database() -> None:
    assert tare("time", "SELECT 1").code == USAGE


def test_an_unknown_scheme_lists_the_known_ones() -> None:
    assert_says(
        tare("time", "SELECT 1", "--db", "oracle://h/d"), USAGE, "oracle://", "postgresql://", "duckdb://"
    )


def test_a_server_that_is_not_there() -> None:
    assert_says(tare("time", "SELECT 1", "--db", "postgresql://127.0.0.1:1/x"), RUN, "127.0.0.1", "next:")


def test_a_password_is_never_printed(postgresql_tcp_url: str) -> None:
    url = postgresql_tcp_url.replace("://", "://nobody:s3cr3t@", 1)
    said = tare("time", "SELECT 1", "--db", url)
    assert said.code == RUN
    assert "s3cr3t" not in said.out + said.err


@pytest.mark.parametrize(
    "text",
    [
        "!PGPASSWORD=s3cr3t false",
        "!echo postgresql://u:s3cr3t@h/d >&2; false",
        "ALTER ROLE x PASSWORD 's3cr3t'",
    ],
)
def test_a_password_in_a_phase_is_never_printed(text: str, postgresql_url: str) -> None:
    words = ("time", "SELECT 1", "--db", postgresql_url, "--setup", text, "--allow-writes")
    said = tare(*words)
    assert said.code == RUN, said.err
    assert "--setup" in said.err
    assert "s3cr3t" not in said.out + said.err


@pytest.mark.parametrize("sql", ["", "   ;  ", "/* nothing but a comment */"])
def test_empty_sql(postgresql_url: str, sql: str) -> None:
    assert_says(tare("time", sql, "--db", postgresql_url), USAGE, "next:")


def test_a_file_that_is_given_as_sql_is_named(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SELECT 1")
    for words in ([str(file)], ["-f", str(file), str(file)]):  # as a shell expands -f *.sql
        assert_says(tare("time", *words, "--db", sqlite_url), USAGE, "is a file", f"-f {file}")
    assert_says(tare("time", str(tmp_path), "--db", sqlite_url), USAGE, "is a folder", f"-f {tmp_path}")
    assert_says(tare("time", "missing.sql", "--db", sqlite_url), USAGE, "neither SQL nor a file")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("\\set x 1\nSELECT 1", "line 1"),
        ("SELECT 1;\n  \\g", "line 2"),
        (".timer on\nSELECT 1", ".timer"),
        ("DELIMITER //\nSELECT 1", "DELIMITER //"),
    ],
)
def test_commands_of_client_programs_are_named(
    text: str, command: str, sqlite_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "q.sql"
    file.write_text(text)
    assert_says(tare("time", "-f", str(file), "--db", sqlite_url), USAGE, command, "of a client program")


@pytest.mark.parametrize(
    ("dbms", "parameters"),
    [
        ("postgresql", ["$1", ":id", ":'id'", "%s", "?", "{id}"]),
        ("mariadb", ["?", ":id", "%s"]),
        ("sqlite", ["?", "?1", ":id", "@id", "$id", "%s"]),
        ("duckdb", ["?", "$1", "$id", ":id"]),
    ],
)
def test_a_parameter_without_a_value_is_named(
    dbms: str, parameters: list[str], request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    for parameter in parameters:
        said = tare("time", f"SELECT 1 FROM numbers WHERE id IN ({parameter})", "--db", url)
        assert_says(said, USAGE, f"{parameter} in line 1 is a parameter without a value", "-L ")


def test_a_folder_without_sql_is_named(sqlite_url: str, tmp_path: Path) -> None:
    assert_says(tare("time", "-f", str(tmp_path), "--db", sqlite_url), USAGE, "without files *.sql")


def test_several_statements(postgresql_url: str) -> None:
    assert_says(tare("time", "SELECT 1; SELECT 2", "--db", postgresql_url), USAGE, "next:")


def test_a_statement_that_changes_data_needs_leave(postgresql_url: str) -> None:
    assert_says(tare("time", "DELETE FROM numbers", "--db", postgresql_url), USAGE, "--allow-writes")
    said = tare("time", "SELECT count(*) FROM numbers", "--db", postgresql_url, "--runs", "1", "--json", "-")
    assert said.code == 0


def test_sql_that_the_dbms_refuses(postgresql_url: str) -> None:
    assert_says(tare("time", "SELEC 1", "--db", postgresql_url), USAGE, "SELEC", "next:")


def test_sql_that_fails_while_it_runs(postgresql_url: str) -> None:
    said = tare("time", "SELECT 1 / (id - id) FROM numbers", "--db", postgresql_url)
    assert_says(said, RUN, "division by zero", "next:")


def test_a_mistake_in_the_last_query_is_found_before_the_first_is_weighed(sqlite_url: str) -> None:
    said = tare("time", "SELECT count(*) FROM numbers", "SELECT nothing FROM nowhere", "--db", sqlite_url)
    assert said.code == USAGE
    assert "wall" not in said.out


def test_a_time_out_is_kept_as_a_row(postgresql_url: str) -> None:
    said = tare(
        "time",
        "SELECT pg_sleep(5)",
        "--db",
        postgresql_url,
        "--timeout",
        "200ms",
        "--runs",
        "2",
        "--json",
        "-",
    )
    assert said.code == RUN, said.err
    (query,) = said.result["results"]
    assert query["outcome"] == "failed"
    assert {qe["outcome"] for qe in query["qes"]} == {"timeout"}


def test_an_answer_that_changes_stops_the_run(postgresql_url: str) -> None:
    said = tare("time", "SELECT random()", "--db", postgresql_url, "--runs", "3")
    assert_says(said, RUN, "hash", "random()")


def test_an_unknown_tier(sqlite_url: str) -> None:
    assert_says(tare("time", "SELECT 1", "--db", sqlite_url, "--tier", "magic"), USAGE, "magic")


def test_an_export_that_cannot_be_written_leaves_the_others(sqlite_url: str, tmp_path: Path) -> None:
    good = tmp_path / "out.csv"
    said = tare(
        "time", "SELECT 1", "--db", sqlite_url, "--runs", "1", "--json", "/dev/full", "--csv", str(good)
    )
    assert_says(said, RUN, "/dev/full", "next:")
    assert good.exists()
    assert "wall" in said.out


def test_a_folder_that_is_not_there_is_said_before_weighing(sqlite_url: str, tmp_path: Path) -> None:
    said = tare("time", "SELECT 1", "--db", sqlite_url, "--json", str(tmp_path / "no" / "out.json"))
    assert_says(said, USAGE, "mkdir")


def test_ctrl_c_prints_what_was_weighed(postgresql_url: str) -> None:
    run = start("time", "SELECT pg_sleep(0.2)", "--db", postgresql_url, "--runs", "1000", "--warmup", "0")
    wait_until_it_ran(postgresql_url, "SELECT pg_sleep(0.2)", times=8)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == CTRL_C, err
    assert "wall" in out
    assert "interrupted" in err
