"""Requests that are just wrong enough: each is refused in words, and does no harm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment, tare
from tests.cli.test_bad_input import RUN, USAGE, assert_says
from tests.servers import make_duckdb, make_sqlite

COUNT = "SELECT count(*) FROM numbers"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * INTO copied FROM numbers",
        "EXPLAIN ANALYZE DELETE FROM numbers",
        "EXPLAIN (COSTS off, ANALYZE) DELETE FROM numbers",
        "WITH gone AS (DELETE FROM numbers RETURNING id) SELECT count(*) FROM gone",
        "COPY numbers TO PROGRAM 'cat'",
        "SELECT lo_create(0)",
    ],
)
def test_a_change_in_disguise_is_at_fault_and_not_made(postgresql_url: str, sql: str) -> None:
    assert_says(tare("time", sql, "--db", postgresql_url), USAGE, "--allow-writes")
    said = tare("time", COUNT, "--db", postgresql_url, "--runs", "1", "--warmup", "0", "--json", "-")
    assert said.result["results"][0]["answer"]["rows"] == 1


def test_an_explained_copy_of_duckdb_writes_no_file(duckdb_url: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    said = tare("time", f"EXPLAIN ANALYZE COPY numbers TO '{out}'", "--db", duckdb_url)
    assert_says(said, USAGE, "--allow-writes")
    assert not out.exists()


@pytest.mark.mariadb
def test_a_select_of_mariadb_writes_no_file(mariadb_url: str) -> None:
    said = tare("time", "SELECT 1 INTO /* here */ OUTFILE '/tmp/tare-outfile'", "--db", mariadb_url)
    assert_says(said, USAGE, "--allow-writes")
    assert not Path("/tmp/tare-outfile").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-P", "n", "1", "nan"), "empty range"),
        (("-P", "n", "1", "inf"), "empty range"),
        (("-P", "n", "1", "1e9"), "the most"),
        (("-L", "n=1", "--timeout", "inf"), "--timeout"),
        (("-L", "n=1", "--timeout", "1e12"), "--timeout"),
        (("-L", "n=1", "--timeout", "30"), "write a number and its unit"),
        (("-L", "n=1", "--timeout", "0.1ms"), "from 1ms to 277h"),
        (("-L", "n=1", "--connect-timeout", "300h"), "from 100ms to 277h"),
        (("-L", "n=1", "--warmup", "²"), "--warmup"),
    ],
)
def test_numbers_out_of_all_bounds(sqlite_url: str, words: tuple[str, ...], told: str) -> None:
    said = tare("time", "SELECT {n}", "--db", sqlite_url, *words)
    assert said.code == USAGE, said.err
    assert told in said.err
    assert "Traceback" not in said.err


def test_a_file_with_a_byte_order_mark_is_read(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_bytes(b"\xef\xbb\xbfSELECT 1;\n")
    assert tare("time", "-f", str(file), "--db", sqlite_url, "--runs", "1", "--warmup", "0").code == 0


def test_a_null_character_does_not_cut_the_statement_short(postgresql_url: str, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_bytes(b"SELECT 1 \0 FROM nowhere")
    assert_says(tare("time", "-f", str(file), "--db", postgresql_url), USAGE, "null character")


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def test_a_parameter_left_open_is_found_before_weighing(dbms: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    assert_says(tare("time", "SELECT ?", "--db", url), USAGE, "SELECT ?")


def test_a_password_is_hidden_in_every_spelling(postgresql_tcp_url: str) -> None:
    url = postgresql_tcp_url.replace("://", "://postgres:s3cr3t@", 1)
    said = tare("time", "SELECT 1", f"--db={url}", "--runs", "1", "--warmup", "0", "--json", "-")
    assert said.code == 0, said.err
    assert "s3cr3t" not in said.out + said.err
    assert "postgres@127.0.0.1" in said.result["command"]


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb"])
def test_no_part_of_an_unescaped_password_is_taken_for_the_host(scheme: str) -> None:
    said = tare("time", "SELECT 1", "--db", f"{scheme}://me:s3@cr3t/x@127.0.0.1:1/db")
    assert_says(said, USAGE, "%40")
    assert "cr3t" not in said.err


def test_an_sqlite_file_is_not_taken_for_a_duckdb_one(tmp_path: Path) -> None:
    url = make_sqlite(tmp_path / "n.db").replace("sqlite:", "duckdb:")
    assert_says(tare("time", "SELECT 1", "--db", url), RUN, "SQLite database", "sqlite:///")


def test_clean_up_is_done_also_where_the_query_fails(tmp_path: Path) -> None:
    url = make_duckdb(tmp_path / "n.duckdb")
    said = tare(
        "time", "SELECT cast(txt AS integer) FROM numbers", "--db", url, "--allow-writes",
        "--setup", "CREATE TABLE scratch (i integer)", "--cleanup", "DROP TABLE scratch",
    )  # fmt: skip
    assert said.code == RUN
    again = tare("time", "SELECT * FROM scratch", "--db", url)
    assert_says(again, USAGE, "scratch")
    assert not Path(f"{tmp_path}/n.duckdb.wal").exists()  # the engine closed its file in order


# Where the result goes -----------------------------------------------------------
def run_into(out: int, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tare", *words],
        stdout=out, stderr=subprocess.PIPE, text=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_standard_output_on_a_full_disk_keeps_no_file_from_being_written(
    sqlite_url: str, tmp_path: Path
) -> None:
    for dash in ((), ("--csv", "-")):
        good = tmp_path / f"out{len(dash)}.json"
        words = ("time", "SELECT 1", "--db", sqlite_url, "--runs", "1", "--json", str(good), *dash)
        with Path("/dev/full").open("w") as full:
            code, err = run_into(full.fileno(), *words)
        assert code == RUN
        assert "No space left" in err
        assert "Traceback" not in err
        assert good.exists()


@pytest.mark.parametrize(
    "words", [("--version",), ("experiment", "new"), ("experiment", "new", "--json"), ("lab", "--help")]
)
def test_every_command_tells_that_its_output_could_not_be_written(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        code, err = run_into(full.fileno(), *words)
    assert code == RUN
    assert "standard output could not be written: No space left" in err
    assert "Traceback" not in err


def test_a_reader_that_has_gone_keeps_no_file_from_being_written(sqlite_url: str, tmp_path: Path) -> None:
    good = tmp_path / "out.json"
    reading, writing = os.pipe()
    os.close(reading)
    code, err = run_into(writing, "time", "SELECT 1", "--db", sqlite_url, "--runs", "1", "--json", str(good))
    os.close(writing)
    assert code == 1
    assert err == ""
    assert good.exists()


def test_places_that_cannot_take_a_result_are_said_before_weighing(sqlite_url: str, tmp_path: Path) -> None:
    ask = ("time", "SELECT 1", "--db", sqlite_url)
    assert_says(tare(*ask, "--json", str(tmp_path)), USAGE, "folder")
    one = str(tmp_path / "one")
    assert_says(tare(*ask, "--json", one, "--csv", one), USAGE, "one file")


def test_text_in_a_file_holds_no_control_characters_and_keeps_to_its_width(sqlite_url: str) -> None:
    said = tare("time", COUNT, "--db", sqlite_url, "--runs", "2", COLUMNS="60")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", said.out + said.err)
    assert max(map(len, said.out.splitlines())) <= 60


def test_where_one_cache_is_emptied_the_other_is_filled_first(tmp_path: Path) -> None:
    url = make_sqlite(tmp_path / "n.db")
    os.posix_fadvise(fd := os.open(tmp_path / "n.db", os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    said = tare("time", COUNT, "--db", url, "--runs", "2", "--cache", "lukewarm-dbms", "--json", "-")
    (query,) = said.result["results"]
    assert [qe["warmup"] for qe in query["qes"]] == [True, False, False]
    assert all(proof["page_cache_share"] == 1 for proof in query["cache"]["proof"] if proof["qe"] > 0)
