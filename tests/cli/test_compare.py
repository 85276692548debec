"""`tare compare` tells a slower query from its equal, and stops when it knows enough."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import jsonschema
import psycopg
import pytest

from tare.dbms import local
from tests.cli.running import tare
from tests.cli.test_time import SCHEMA
from tests.servers import own_server

# Small enough to stay in work_mem: spilling costs more than rows.
FAST = "SELECT sum(i::bigint * i) FROM generate_series(1, 30000) AS i"
SLOW = "SELECT sum(i::bigint * i) FROM generate_series(1, 60000) AS i"


def test_twice_the_work_is_called_different(postgresql_url: str) -> None:
    said = tare("compare", FAST, SLOW, "--db", postgresql_url, "--runs", "10", "--json", "-")
    assert said.code == 0, said.err
    comparison = said.result["comparison"]
    assert (comparison["verdict"], comparison["greater"]) == ("different", "B")
    low, high = comparison["measures"]["cpu_ms"]["ratio"]["ci95"]
    assert low < 2.0 < high or 1.6 < low < high < 2.4


def test_runs_are_interleaved_in_an_order_drawn_anew(postgresql_url: str) -> None:
    result = tare("compare", FAST, FAST + " ", "--db", postgresql_url, "--runs", "10", "--json", "-").result
    a, b = ([qe["index"] for qe in query["qes"] if not qe["warmup"]] for query in result["results"])
    assert all(abs(one - two) == 1 for one, two in zip(a, b, strict=True))
    assert len({one < two for one, two in zip(a, b, strict=True)}) == 2


def sessions(url: str) -> int:
    """Sessions that the database has had."""
    with psycopg.connect(url) as connection:
        time.sleep(0.2)  # a session reports itself when it ends
        found = connection.execute(
            "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize(("blocks", "fewest", "most"), [((), 8, 12), (("--blocks", "run"), 1, 4)])
def test_each_pair_of_runs_has_a_fresh_session_unless_it_is_asked_for_one(
    postgresql_url: str, blocks: tuple[str, ...], fewest: int, most: int
) -> None:
    before = sessions(postgresql_url)
    said = tare(
        "compare", FAST, SLOW, "--db", postgresql_url, "--runs", "8", *blocks, "--json", "-", "--allow-writes",
        "--setup", "CREATE TEMP TABLE IF NOT EXISTS mine (a int)", "--prepare", "INSERT INTO mine VALUES (1)",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert fewest <= sessions(postgresql_url) - before - 1 <= most
    assert said.result["comparison"]["blocks"] == (blocks[1] if blocks else "session")


def test_each_session_is_warmed_before_it_is_timed(postgresql_url: str) -> None:
    result = tare("compare", FAST, FAST + " ", "--db", postgresql_url, "--runs", "6", "--json", "-").result
    for query in result["results"]:
        states = [qe["warmup"] for qe in query["qes"]]
        assert states.count(False) == 6
        assert all(warm for warm, timed in itertools.pairwise(states) if not timed), (
            "no two runs in a row are timed"
        )


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_each_pair_of_runs_follows_a_restart_if_one_is_asked_for(kind: str) -> None:
    with own_server(kind) as server:
        born = local.born_at(server.record.pid)
        said = tare(
            "compare", "SELECT 1", "SELECT 2", "--db", server.url, "--runs", "3", "--blocks", "restart"
        )
        assert said.code == 0, said.err
        assert "each pair after a restart of the server" in " ".join(said.out.split())
        assert not local.is_alive(server.record.pid, born)


def test_a_database_without_a_server_is_not_restarted(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, "--blocks", "restart")
    assert said.code == 2
    assert "no server to restart" in said.err
    assert "--blocks session" in said.err


def test_until_stops_on_the_width_of_the_interval(postgresql_url: str) -> None:
    said = tare(
        "compare",
        FAST,
        SLOW,
        "--db",
        postgresql_url,
        "--runs",
        "8",
        "--until",
        "ci=20%",
        "--max-runs",
        "60",
        "--json",
        "-",
    )
    stop = said.result["comparison"]["stop"]
    assert stop["rule"] == "ci=20%"
    assert stop["reached"] is True
    assert stop["half_width"] <= 0.2


def test_two_queries_are_needed(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "--db", sqlite_url)
    assert said.code == 2
    assert "two" in said.err


def test_a_rule_that_is_none_is_refused(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, "--until", "p=0.05")
    assert said.code == 2
    assert "ci=2%" in said.err


def weighed(url: str, path: Path, *sql: str) -> Path:
    said = tare("time", *sql, "--db", url, "--runs", "8", "--json", str(path))
    assert said.code == 0, said.err
    return path


def test_two_earlier_results_are_compared_without_a_server(postgresql_url: str, tmp_path: Path) -> None:
    old, new = (
        weighed(postgresql_url, tmp_path / "old.json", FAST),
        weighed(postgresql_url, tmp_path / "new.json", SLOW),
    )
    said = tare("compare", str(old), str(new), "--json", "-")
    assert said.code == 0, said.err
    jsonschema.validate(said.result, SCHEMA)
    comparison = said.result["comparison"]
    assert (comparison["verdict"], comparison["greater"]) == ("different", "B")
    assert comparison["interleaved"] is False
    assert comparison["answers_agree"] is False
    assert "not-interleaved" in {one["type"] for one in said.result["warnings"]}
    shown = tare("compare", str(old), str(new)).out
    assert "of two sessions" in shown
    assert len(shown.splitlines()) <= 12


def test_results_of_several_queries_are_compared_by_name(sqlite_url: str, tmp_path: Path) -> None:
    queries = ("SELECT count(*) FROM numbers", "SELECT sum(id) FROM numbers")
    old = weighed(sqlite_url, tmp_path / "old.json", *queries)
    new = weighed(sqlite_url, tmp_path / "new.json", *queries[::-1])
    said = tare("compare", str(old), str(new), "-v")
    assert said.code == 0, said.err
    assert all(f"old: {sql}" in said.out for sql in queries)
    assert tare("compare", str(old), str(new), "--json", "-").code == 2


def test_a_result_of_an_older_tare_is_read(sqlite_url: str, tmp_path: Path) -> None:
    new = weighed(sqlite_url, tmp_path / "new.json", "SELECT count(*) FROM numbers")
    document = json.loads(new.read_text())
    for added in ("compared", "difference"):
        del document["results"][0]["answer"][added]
    del document["results"][0]["measures"]["throttled_ms"]
    del document["results"][0]["resources"]["preemptions"]
    old = tmp_path / "old.json"
    old.write_text(json.dumps(document))
    assert tare("compare", str(old), str(new)).code == 0


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    said = tare("compare", str(other), str(other))
    assert said.code == 2
    assert "is not a result of `tare time`" in said.err
    assert tare("compare", str(other)).code == 2
