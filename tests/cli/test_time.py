"""`tare time` on real servers: the result adds up, says what it is, and can be read by programs."""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.running import Said, tare

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/result-v1.json").read_text())
NAMES = [
    "wall_ms", "cpu_ms", "cpu_user_ms", "cpu_system_ms", "block_io_ms", "run_queue_ms",
    "sleep_ms", "steal_ms", "residue_ms", "ttp2_ms", "instructions",
]  # fmt: skip
QUERY = "SELECT grp, count(*), sum(id) FROM numbers GROUP BY grp"


DBMSES = ("postgresql", "mariadb", "sqlite", "duckdb")

Weighed = Callable[[str], tuple[Said, Any]]


@pytest.fixture(scope="module")
def weighed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Weighed:
    """Seven runs of the query on a DBMS: what was printed, and the result as JSON."""
    folder = tmp_path_factory.mktemp("weighed")

    @cache
    def on(dbms: str) -> tuple[Said, Any]:
        url, file = request.getfixturevalue(f"{dbms}_url"), folder / f"{dbms}.json"
        said = tare("time", QUERY, "--db", url, "--runs", "7", "--json", str(file), COLUMNS="80")
        assert (said.code, said.err) == (0, "")
        return said, json.loads(file.read_text())

    return on


@pytest.mark.parametrize("dbms", DBMSES)
def test_every_dbms_is_weighed_and_the_result_keeps_to_its_schema(dbms: str, weighed: Weighed) -> None:
    _, result = weighed(dbms)
    jsonschema.validate(result, SCHEMA)
    (query,) = result["results"]
    assert set(NAMES) <= set(query["measures"])
    wall = query["measures"]["wall_ms"]
    assert len(wall["samples"]) == 7
    assert wall["median"] == statistics.median(wall["samples"])
    assert wall["ci95"][0] <= wall["median"] <= wall["ci95"][1]
    assert query["measures"]["cpu_ms"]["median"] > 0
    assert query["answer"]["consistent"]
    assert query["plan"]["fingerprint"]


@pytest.mark.parametrize("dbms", DBMSES)
def test_a_measure_is_null_only_with_a_reason(dbms: str, weighed: Weighed) -> None:
    (query,) = weighed(dbms)[1]["results"]
    for name, measure in query["measures"].items():
        assert measure["median"] is not None or measure["reason"], name


def test_the_parts_of_each_run_add_up_to_its_wall_time(weighed: Weighed) -> None:
    (query,) = weighed("postgresql")[1]["results"]
    measures = query["measures"]
    parts = ("cpu_ms", "block_io_ms", "run_queue_ms", "sleep_ms", "steal_ms", "residue_ms")
    for i, wall in enumerate(measures["wall_ms"]["samples"]):
        if measures["residue_ms"]["samples"][i] is None:
            continue  # its trace was rejected, and says so
        known = [
            v
            for name in parts
            if measures[name]["samples"] and (v := measures[name]["samples"][i]) is not None
        ]
        assert sum(known) == pytest.approx(wall, abs=1e-3)


def test_answers_agree_across_all_dbms(weighed: Weighed) -> None:
    hashes = {weighed(dbms)[1]["results"][0]["answer"]["hash"] for dbms in DBMSES}
    assert len(hashes) == 1
    assert None not in hashes


def test_the_text_names_both_views_and_every_part(postgresql_url: str) -> None:
    said = tare("time", QUERY, "--db", postgresql_url, "--runs", "6", "-v")
    assert said.code == 0, said.err
    for word in ("wall", "CPU", "block I/O", "run-queue", "sleep", "steal", "residue", "TTPv2", "ms", "95%"):
        assert word in said.out, word


@pytest.mark.parametrize("dbms", DBMSES)
def test_the_short_form_is_the_default(dbms: str, weighed: Weighed) -> None:
    said, _ = weighed(dbms)
    lines = said.out.splitlines()
    assert len(lines) <= 12, said.out
    assert lines[0][0] in "✓!"
    assert any(line.startswith("  wall = ") for line in lines)
    assert "residue" in said.out
    assert lines[-1].startswith("  -v ")


def test_a_query_that_fails_shows_why_in_the_short_form(postgresql_url: str) -> None:
    said = tare(
        "time",
        "SELECT pg_sleep(5)",
        "--db",
        postgresql_url,
        "--runs",
        "1",
        "--timeout",
        "200ms",
        COLUMNS="80",
    )
    assert said.code == 1
    assert said.out.startswith("✗ SELECT pg_sleep(5): no run was timed to its end: ")
    assert len(said.out.splitlines()) <= 12


def test_exports_are_written_beside_the_text(sqlite_url: str, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "markdown", "csv")}
    flags = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]
    said = tare("time", QUERY, "SELECT count(*) FROM numbers", "--db", sqlite_url, "--runs", "6", *flags)
    assert said.code == 0, said.err
    jsonschema.validate(json.loads(files["json"].read_text()), SCHEMA)
    assert "|" in files["markdown"].read_text()
    rows = list(csv.DictReader(files["csv"].open()))
    assert len([row for row in rows if row.get("warmup") in ("False", "false", "0")]) == 12


def test_cold_is_proved_by_what_is_resident(postgresql_url: str) -> None:
    said = tare("time", QUERY, "--db", postgresql_url, "--runs", "3", "--cold", "--json", "-")
    assert said.code == 0, said.err
    cache = said.result["results"][0]["cache"]
    assert cache["asked"] == "cold"
    assert cache["reached"] is True, cache["evidence"]
    assert all(proof["page_cache_share"] < 0.1 for proof in cache["proof"])


def test_lukewarm_keeps_the_page_cache_and_empties_the_buffers(postgresql_url: str) -> None:
    said = tare(
        "time", QUERY, "--db", postgresql_url, "--runs", "2", "--cache", "lukewarm-dbms", "--json", "-"
    )
    assert said.code == 0, said.err
    assert said.result["results"][0]["cache"]["reached"] is True


def test_the_files_of_a_folder_and_standard_input_are_weighed(sqlite_url: str, tmp_path: Path) -> None:
    for place in ("q10.sql", "q2.sql", "other/q2.sql"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("SELECT 1 WHERE 'a\n\\b' <> ''")
    folder = tare("time", "-f", str(tmp_path), "--db", sqlite_url, "--runs", "1", "--json", "-")
    assert [query["name"] for query in folder.result["results"]] == ["q2", "q10"]
    both = [f"-f{tmp_path}/q2.sql", f"-f{tmp_path}/other/q2.sql"]
    alike = tare("time", *both, "--db", sqlite_url, "--runs", "1", "--json", "-")
    assert [query["name"] for query in alike.result["results"]] == [word[2:] for word in both]
    words = ["time", "-f", "-", "--db", sqlite_url, "--runs", "1", "--json", "-"]
    command = [sys.executable, "-m", "tare", *words]
    piped = subprocess.run(command, input=b"SELECT 7", capture_output=True, timeout=60, check=True)
    [query] = json.loads(piped.stdout)["results"]
    assert (query["name"], query["sql"]) == ("stdin", "SELECT 7")


def test_a_parameter_scan_weighs_one_query_a_value(duckdb_url: str) -> None:
    said = tare(
        "time", "SELECT count(*) FROM numbers WHERE id < {n}", "--db", duckdb_url,
        "-P", "n", "100", "300", "-D", "100", "--runs", "1", "--warmup", "0", "--json", "-",
    )  # fmt: skip
    assert [query["parameters"] for query in said.result["results"]] == [
        {"n": "100"},
        {"n": "200"},
        {"n": "300"},
    ]


def test_phases_run_around_each_query_and_each_run_in_order(sqlite_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    phases = [
        w
        for name in ("setup", "prepare", "conclude", "cleanup")
        for w in (f"--{name}", f"!echo {name} >> {log}")
    ]
    said = tare("time", QUERY, "--db", sqlite_url, "--runs", "2", "--warmup", "0", *phases)
    assert said.code == 0, said.err
    assert log.read_text().split() == ["setup", "prepare", "conclude", "prepare", "conclude", "cleanup"]


def test_samples_stay_in_run_order(weighed: Weighed) -> None:
    (query,) = weighed("sqlite")[1]["results"]
    timed = [qe for qe in query["qes"] if not qe["warmup"]]
    assert [qe["wall_ms"] for qe in timed] == query["measures"]["wall_ms"]["samples"]
    assert [qe["index"] for qe in timed] == sorted(qe["index"] for qe in timed)


def test_parallel_workers_are_counted_as_query_processes(postgresql_url: str) -> None:
    said = tare(
        "time", "SELECT count(*), sum(sqrt(a.id)) FROM numbers a, generate_series(1, 60) g WHERE a.id % 7 <> g % 7",
        "--db", postgresql_url, "--runs", "3", "--warmup", "1", "--json", "-",
        "--setup", "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
        "SET min_parallel_table_scan_size = 0",
    )  # fmt: skip
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert query["resources"]["processes"]["median"] > 1
    assert query["resources"]["cpu_ms"]["median"] > query["measures"]["cpu_ms"]["median"]


@pytest.mark.parametrize(
    ("dbms", "numbers"),
    [
        ("duckdb", "SELECT sum(i) FROM range(1000) AS s(i)"),
        (
            "sqlite",
            "WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 999) SELECT sum(i) FROM s",
        ),
    ],
)
def test_a_database_in_memory(dbms: str, numbers: str) -> None:
    words = ("--db", f"{dbms}:///:memory:", "--runs", "2", "--warmup", "0", "--json", "-")
    made = (
        "--setup",
        "CREATE TABLE t AS SELECT 42 AS i",
        "SELECT i FROM t",
        numbers,
        "--cleanup",
        "DROP TABLE t",
    )
    said = tare("time", *made, *words)
    assert said.code == 0, said.err
    assert [one["answer"]["rows"] for one in said.result["results"]] == [1, 1]
    refused = tare("time", numbers, *words, "--cold")
    assert refused.code == 2
    assert "in memory" in refused.err


def test_a_copy_to_the_client_is_reported_with_its_bytes(postgresql_url: str) -> None:
    words = ("--db", postgresql_url, "--runs", "2", "--warmup", "0")
    copy = "COPY (SELECT id FROM numbers WHERE id < 10) TO STDOUT"
    said = tare("time", copy, *words, "--json", "-")
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert (query["answer"]["rows"], query["answer"]["size_bytes"], query["answer"]["consistent"]) == (
        9,
        18,
        True,
    )
    assert query["phases"]["planning_ms"]["median"] is None
    assert "9 rows in 18 bytes" in tare("time", copy, *words).out
