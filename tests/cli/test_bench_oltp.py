"""`tare bench oltp` as a user meets it."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.cli.running import Said, start, tare


def oltp(*words: str, **more: str) -> Said:
    return tare("bench", "oltp", *words, **more)


# Requests at fault -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tpcd", "--db", "sqlite"], ["no workload tpcd", "did you mean tpcc?"]),
        (["tpcc", "--db", "postgresl"], ["postgresl: neither a URL", "did you mean postgresql?"]),
        (["tpcc", "--db", "duckdb:///x.db"], ["do not run on duckdb:///x.db", "sqlite://"]),
        (["tpcc", "--db", "sqlite", "--rate", "fast"], ["--rate fast: no rate", "200:30s,400:30s"]),
        (["tpcc", "--db", "sqlite", "--rate", "0"], ["--rate 0: no rate"]),
        (["tpcc", "--db", "sqlite", "--rate", "nan"], ["--rate nan: no rate"]),
        (["tpcc", "--db", "sqlite", "--rate", "5:60"], ["60: no duration", "60s"]),
        (["tpcc", "--db", "sqlite", "--duration", "0s"], ["--duration 0s", "above 0"]),
        (["tpcc", "--db", "sqlite", "--warmup", "ten"], ["--warmup ten: no duration"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "poisson"], ["poisson needs a rate", "--rate 500"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "poison", "--rate", "5"], ["did you mean poisson?"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "trace:nowhere"], ["trace:nowhere: no such file"]),
        (["tpcc", "--db", "sqlite", "--arrivals", "trace:x", "--rate", "5"], ["takes no --rate"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order"], ["no NAME=VALUE", "new_order=45"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order=-1"], ["not a weight"]),
        (["tpcc", "--db", "sqlite", "--mix", "new_order=0"], ["all weights are 0"]),
        (["tpcc", "--db", "sqlite", "--mix", "payment=1,payment=2"], ["payment is given twice"]),
        (
            ["tpcc", "--db", "sqlite", "--fixed-lines", "15", "--option", "fixed_lines=5"],
            ["fixed_lines is given twice"],
        ),
        (["tpcc", "--db", "sqlite", "--samples", "/nowhere/s.parquet"], ["/nowhere is not there"]),
        (
            ["tpcc", "--db", "sqlite"],
            ["nothing was loaded into a sqlite", "tare bench oltp load tpcc --db sqlite"],
        ),
        (["tpcc", "--db", "sqlite:///nowhere.db"], ["no database nowhere.db", "tare bench oltp load tpcc"]),
    ],
)
def test_a_request_at_fault_is_refused_with_what_to_write_instead(
    words: list[str], said: list[str], tmp_path: Path
) -> None:
    found = oltp("run", *words, "--lab", str(tmp_path / "lab.db"))
    assert found.code == 2, found.err
    for text in said:
        assert text in found.err
    assert "next:" in found.err


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/db"
    found = oltp("run", "tpcc", "--db", url, "--lab", str(tmp_path / "lab.db"), "--connect-timeout", "1s")
    assert found.code == 1
    assert "s3cret" not in found.out + found.err


# From loading to dropping ----------------------------------------------------------------
@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lab and a SQLite database that holds YCSB, both for all tests of this module."""
    folder = tmp_path_factory.mktemp("oltp")
    done = oltp("load", "ycsb", *at(folder), "--scale", "1", "--seed", "7", "--json")
    assert done.code == 0, done.err
    assert done.result["loaded"] == {
        "workload": "ycsb",
        "scale": 1.0,
        "seed": 7,
        "options": done.result["loaded"]["options"],
        "complete": True,
    }
    return folder


def at(folder: Path) -> list[str]:
    return ["--db", "sqlite", "--lab", str(folder / "lab.db")]


CONNECTIONS = 16  # by default, each with a thread of the driver
SHORT = ["--duration", "3s", "--warmup", "1s", "--connections", "2"]


def test_the_workloads_are_named_with_their_types() -> None:
    found = {one["workload"]: one for one in oltp("list", "--json").result}
    assert found.keys() == {"tpcc", "tatp", "seats", "epinions", "ycsb"}
    assert {kind["name"]: kind["share"] for kind in found["tpcc"]["types"]}["new_order"] == 45
    for one in found.values():
        assert sum(kind["share"] for kind in one["types"]) == pytest.approx(100)
    said = oltp("list")
    assert "mix, %: new_order 45" in said.out


def test_a_rate_that_is_held_is_not_invalid_and_every_second_is_told(place: Path) -> None:
    done = oltp("run", "ycsb", *at(place), "--rate", "100", *SHORT, "--json")
    assert done.code == 0, done.out + done.err
    made = done.result
    assert made["invalid"] == []
    assert made["valid"] is (made["not_judged"] == [])
    assert made["intended_rate"] == 100
    counts = made["all"]["counts"]
    assert counts["offered"] == 300 == counts["committed"] + counts["rolled_back"]
    assert {0, 1, 2} <= {one["number"] for one in made["seconds"]}
    assert sum(one["counts"]["offered"] for one in made["seconds"] if one["number"] >= 0) == 300
    assert {one["name"] for one in made["measures"]} >= {"machine_cpu", "server_cpu", "tare_cpu"}
    assert made["isolation"]
    assert made["driver"]["cpu_ns"] > 0


def test_what_is_printed_begins_with_whether_it_is_valid(place: Path) -> None:
    done = oltp("run", "ycsb", *at(place), "--rate", "20:1s,40:2s", "--arrivals", "poisson", *SHORT)
    assert done.code == 0, done.out + done.err
    # With neighbours at work it is disturbed as well.
    assert re.match("! This run (is too short to|cannot) be judged: its rate was not judged: ", done.out)
    for words in (
        "ycsb, scale 1",
        "SQLite",
        "response",
        "start lag",
        "driver's CPU",
        "a transaction",
        "of the lab",
    ):
        assert words in done.out
    assert "measured part\n1 s: " in done.err, "a line every ten seconds, on standard error"


def test_the_same_seed_offers_the_same(place: Path) -> None:
    words = [
        "run",
        "ycsb",
        *at(place),
        "--rate",
        "100",
        "--arrivals",
        "poisson",
        "--seed",
        "3",
        *SHORT,
        "--json",
    ]
    first, second = (oltp(*words).result for _ in range(2))
    assert [one["counts"]["offered"] for one in first["types"]] == [
        one["counts"]["offered"] for one in second["types"]
    ]


def test_each_run_has_a_seed_of_its_own_unless_it_is_given(place: Path) -> None:
    words = ["run", "ycsb", *at(place), "--rate", "50", "--duration", "1s", "--warmup", "0s", "--json"]
    first, second, third = (oltp(*words).result["asked"]["seed"] for _ in range(3))
    assert len({first, second, third}) == 3
    assert oltp(*words, "--seed", "5").result["asked"]["seed"] == 5


def test_a_closed_loop_has_no_rate_and_no_lag(place: Path) -> None:
    made = oltp("run", "ycsb", *at(place), *SHORT, "--json").result
    assert made["intended_rate"] is None
    assert made["all"]["lag"]["count"] == 0
    assert made["all"]["counts"]["committed"] > 10


def test_a_rate_that_cannot_be_held_is_invalid_and_says_so_first(place: Path) -> None:
    done = oltp("run", "ycsb", *at(place), "--rate", "400000", *SHORT, "--drain", "500ms", "--no-check")
    assert done.code == 1
    assert done.out.startswith("✗ This run is not valid: ")
    assert "rate" in done.out.splitlines()[0]


def test_samples_are_every_transaction_of_the_measured_part(place: Path) -> None:
    import pyarrow.parquet as pq

    file = place / "samples.parquet"
    done = oltp("run", "ycsb", *at(place), "--rate", "100", *SHORT, "--samples", str(file), "--json")
    assert done.code == 0, done.err
    rows = pq.read_table(file).to_pylist()
    assert len(rows) == 300 == done.result["samples"]
    assert [row["arrival"] for row in sorted(rows, key=lambda row: row["intended_ns"])] == list(range(300))
    assert all(row["intended_ns"] <= row["started_ns"] <= row["ended_ns"] for row in rows)
    assert {row["end"] for row in rows} == {"committed"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mix", "reed=1"], ["reed"]),
        (["--option", "cores=a"], ["cores"]),
        (["--scale", "2"], ["scale"]),
    ],
)
def test_what_the_driver_does_not_know_is_a_request_at_fault(
    place: Path, words: list[str], said: list[str]
) -> None:
    done = oltp("run", "ycsb", *at(place), *SHORT, *words)
    assert done.code == 2, done.err
    assert all(text in done.err for text in said)
    assert "next:" in done.err


def test_ctrl_c_ends_a_run_early_and_keeps_what_was_measured(place: Path) -> None:
    running = start(
        "bench",
        "oltp",
        "run",
        "ycsb",
        *at(place),
        "--rate",
        "20",
        "--duration",
        "60s",
        "--warmup",
        "0",
        "--no-check",
        "--json",
    )
    driver = child_of(running.pid, b"tare.workload.oltp.driver")
    while len([*Path(f"/proc/{driver}/task").iterdir()]) < CONNECTIONS:
        time.sleep(0.1)
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    made = json.loads(out)
    assert made["valid"] is False
    assert 0 < made["all"]["counts"]["committed"] < 20 * 30
    assert made["run"] is not None


def test_a_driver_that_is_killed_is_an_error_that_names_the_signal(place: Path) -> None:
    running = start(
        "bench", "oltp", "run", "ycsb", *at(place), "--rate", "20", "--duration", "60s", "--no-check"
    )
    driver = child_of(running.pid, b"tare.workload.oltp.driver")
    time.sleep(1)
    os.kill(driver, signal.SIGKILL)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "was ended by SIGKILL" in err


def test_a_client_that_is_killed_takes_its_driver_along(place: Path) -> None:
    running = start(
        "bench", "oltp", "run", "ycsb", *at(place), "--rate", "20", "--duration", "60s", "--no-check"
    )
    driver = child_of(running.pid, b"tare.workload.oltp.driver")
    time.sleep(1)
    running.kill()
    running.communicate(timeout=30)
    until = time.monotonic() + 5
    while Path(f"/proc/{driver}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{driver}").exists()


def child_of(parent: int, named: bytes) -> int:
    """Its id, once it is there."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            if named in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        time.sleep(0.05)
    raise AssertionError(f"{parent} has no child {named!r}")


def test_dropped_tables_are_not_there_to_run_on(tmp_path: Path) -> None:
    assert oltp("load", "ycsb", *at(tmp_path)).code == 0
    assert oltp("check", "ycsb", *at(tmp_path)).code == 0
    assert oltp("drop", "ycsb", *at(tmp_path)).code == 0
    done = oltp("run", "ycsb", *at(tmp_path), *SHORT)
    assert done.code == 2
    assert "tare bench oltp load" in done.err


def test_a_corrupted_row_is_named_by_check_and_stops_a_run(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    url = ["--db", f"sqlite:///{file}", "--lab", str(tmp_path / "lab.db")]
    assert oltp("load", "tpcc", *url).code == 0
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1")
    connection.close()
    done = oltp("check", "tpcc", *url)
    assert done.code == 1
    assert "3.3.2.1 does not hold in 1 row" in done.out
    run = oltp("run", "tpcc", *url, *SHORT)
    assert run.code == 1
    assert "conditions do not hold before the run: 3.3.2.1" in run.err
    assert "--no-check" in run.err
