"""`tare bench wisconsin` as a user runs it: asked wrongly, interrupted, where others have tables, tampered with."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Said, start, tare

RUN, USAGE = 1, 2


def bench(lab: Path, *words: str) -> Said:
    return tare("bench", "wisconsin", "--lab", str(lab), *words, timeout=300)


def runs(said: Said) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = said.result["runs"]
    return found


def database(folder: Path, *statements: str) -> Path:
    file = folder / "w.db"
    with sqlite3.connect(file) as connection:
        for sql in statements:
            connection.execute(sql)
    connection.close()
    return file


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--query", "q99"), "has no query or class"),
        (("--rows", "5"), "greater than or equal to 1000"),
        (("--rows", "many"), "not whole numbers"),
        (("--organisation", "pile"), "take of heap, clustered, nonclustered, hash"),
        (("--generation", "1993", "--organisation", "hash"), "no query of the 1993 benchmark is left"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_made(
    asked: Sequence[str], said: str, tmp_path: Path
) -> None:
    found = bench(tmp_path / "lab.db", "--db", "sqlite", *asked)
    assert found.code == USAGE
    assert said in found.err
    assert list(tmp_path.iterdir()) == []


def test_a_url_with_a_password_is_refused_and_not_shown(tmp_path: Path) -> None:
    found = bench(tmp_path / "lab.db", "--db", "postgresql://me:hidden@localhost/x")
    assert found.code == USAGE
    assert "holds a password" in found.err
    assert "hidden" not in found.err + found.out


def test_a_query_of_one_generation_asks_for_that_generation_alone(tmp_path: Path) -> None:
    found = bench(tmp_path / "lab.db", "--db", "sqlite", "--query", "q23", "--qes", "1", "--json")
    assert found.code == 0, found.err
    assert [run["experiment"] for run in runs(found)] == ["wisconsin_1993"]


def test_a_table_that_is_not_ours_is_left_alone_unless_it_may_be_replaced(tmp_path: Path) -> None:
    file = database(tmp_path, "CREATE TABLE tenktup1 (mine integer)", "INSERT INTO tenktup1 VALUES (7)")
    asked = ("--db", f"sqlite:///{file}", "--query", "q23", "--qes", "1", "--rows", "1000")
    refused = bench(tmp_path / "lab.db", *asked)
    assert refused.code == RUN
    assert "--replace" in refused.err
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT mine FROM tenktup1").fetchall() == [(7,)]
    connection.close()
    assert bench(tmp_path / "lab.db", *asked, "--replace").code == 0


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_not_there_yet_is_made(scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    asked = ("--db", f"{scheme}:///{file}", "--query", "q23", "--qes", "1", "--rows", "1000")
    found = bench(tmp_path / "lab.db", *asked)
    assert found.code == 0, found.err
    assert file.exists()


def test_an_organisation_that_the_dbms_lacks_is_listed_with_the_reason(tmp_path: Path) -> None:
    found = bench(tmp_path / "lab.db", "--db", "sqlite", "--organisation", "hash", "--json")
    assert found.code == 0, found.err
    [run] = runs(found)
    assert [(one["query"], one["why"]) for one in run["missing"]] == [
        ("select_1tuple_screen_hash", "SQLite has no hash index")
    ]


def test_an_interrupted_run_goes_on_and_makes_no_execution_twice(tmp_path: Path) -> None:
    lab, events = str(tmp_path / "lab.db"), tmp_path / "events"
    running = start(
        "bench", "wisconsin", "--db", "sqlite", "--generation", "1993", "--rows", "1000", "--query", "update",
        "--qes", "3", "--lab", lab, "--progress-json", "-",
    )  # fmt: skip
    assert running.stdout is not None
    for line in running.stdout:
        events.open("a").write(line)
        if json.loads(line).get("number") == 2:
            running.send_signal(signal.SIGINT)
            break
    running.communicate(timeout=60)
    assert running.returncode == 130
    resumed = tare("experiment", "resume", "1", "--lab", lab, "--json", timeout=300)
    assert resumed.code == 0, resumed.err
    with sqlite3.connect(lab) as connection:
        counted = connection.execute(
            "SELECT q.name, count(*), count(DISTINCT e.number) FROM qe e JOIN qatc a ON a.id = e.qatc_id "
            "JOIN query q ON q.id = a.query_id WHERE e.number IS NOT NULL GROUP BY q.name"
        ).fetchall()
    connection.close()
    assert len(counted) == 7
    assert {(count, numbers) for _, count, numbers in counted} == {(3, 3)}


def test_a_wrong_answer_fails_the_run_and_says_what_was_expected(tmp_path: Path) -> None:
    """A tuple goes behind the benchmark's back, as it would in a DBMS that loses one."""
    file = database(tmp_path)
    running = start(
        "bench", "wisconsin", "--db", f"sqlite:///{file}", "--query", "q2", "--query", "q20", "--rows", "1000",
        "--qes", "10", "--lab", str(tmp_path / "lab.db"), "--progress-json", "-",
    )  # fmt: skip
    assert running.stdout is not None
    for line in running.stdout:
        if json.loads(line).get("event") == "qe":
            with sqlite3.connect(file, timeout=30) as connection:
                for relation in ("tenktup1", "tenktup2"):
                    connection.execute(f"DELETE FROM {relation} WHERE unique2 % 10 = 0")
            connection.close()
            break
    _, err = running.communicate(timeout=120)
    assert running.returncode == RUN
    assert "by its definition" in err
    status = tare("experiment", "status", "1", "--lab", str(tmp_path / "lab.db"), "--json")
    assert status.result["runs"][0]["state"] == "failed"
