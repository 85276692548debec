"""`tare compare` tells a slower query from its equal, and stops when it knows enough."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest

from tests.cli.running import Said, tare

# Small enough to stay in work_mem: spilling costs more than rows.
FAST = "SELECT sum(i::bigint * i) FROM generate_series(1, 30000) AS i"
SLOW = "SELECT sum(i::bigint * i) FROM generate_series(1, 60000) AS i"
FOUR_TIMES = "SELECT sum(i::bigint * i) FROM generate_series(1, 120000) AS i"

WARM = ("--warmup", "1")
"""Most of a comparison's time is warm-up by default: up to ten runs of each query in each session."""


@pytest.fixture(scope="module")
def twice(postgresql_url: str) -> tuple[Said, int]:
    """Ten runs of a query and of one with twice the work, and in how many sessions."""
    before = sessions(postgresql_url)
    said = tare("compare", FAST, SLOW, "--db", postgresql_url, "--runs", "10", "--json", "-")
    assert said.code == 0, said.err
    return said, sessions(postgresql_url) - before - 1


@pytest.fixture(scope="module")
def same(postgresql_url: str) -> Said:
    """Ten runs of a query and of its equal."""
    words = ("--db", postgresql_url, "--runs", "10", "--margin", "50%", "--json", "-")
    said = tare("compare", FAST, FAST + " ", *words, *WARM)
    assert said.code == 0, said.err
    return said


def test_twice_the_work_is_called_different(twice: tuple[Said, int]) -> None:
    comparison = twice[0].result["comparison"]
    assert (comparison["verdict"], comparison["greater"]) == ("different", "B")
    low, high = comparison["measures"]["cpu_ms"]["ratio"]["ci95"]
    assert low < 2.0 < high or 1.6 < low < high < 2.4


def test_equal_work_is_equivalent_within_a_wide_margin_and_more_work_is_not(
    same: Said, postgresql_url: str
) -> None:
    equal = same.result["comparison"]
    assert (equal["verdict"], equal["margin"], equal["blocks_needed"]) == ("equivalent", 0.5, None)
    words = ("--db", postgresql_url, "--runs", "10", "--margin", "50%", "--json", "-")
    more = tare("compare", FAST, FOUR_TIMES, *words, *WARM).result["comparison"]
    assert (more["verdict"], more["greater"]) == ("different", "B")


def test_runs_are_interleaved_in_an_order_drawn_anew(same: Said) -> None:
    a, b = ([qe["index"] for qe in query["qes"] if not qe["warmup"]] for query in same.result["results"])
    assert all(abs(one - two) == 1 for one, two in zip(a, b, strict=True))
    assert len({one < two for one, two in zip(a, b, strict=True)}) == 2


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
        *WARM,
    )
    stop = said.result["comparison"]["stop"]
    assert stop["rule"] == "ci=20%"
    assert stop["reached"] is True
    assert stop["half_width"] <= 0.2


@pytest.mark.parametrize("option", [["-f"], ["--file"], ["-f", "attached"], ["--file=", "attached"]])
@pytest.mark.parametrize("is_file_first", [True, False])
def test_the_query_given_first_is_a(
    option: list[str], is_file_first: bool, sqlite_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "of_file.sql"
    file.write_text("SELECT 1")
    words = [f"{option[0]}{file}"] if option[1:] else [*option, str(file)]
    order = [*words, "SELECT 2"] if is_file_first else ["SELECT 2", *words]
    once = ("--runs", "2", "--warmup", "0", "--blocks", "run")
    said = tare("compare", *order, "--setup", "SELECT 2", "--db", sqlite_url, *once, "--json", "-")
    assert said.code == 0, said.err
    names = [query["name"] for query in said.result["results"]]
    assert names == (["of_file", "SELECT 2"] if is_file_first else ["SELECT 2", "of_file"])


def test_two_queries_are_needed(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "--db", sqlite_url)
    assert said.code == 2
    assert "two" in said.err


def test_a_rule_that_is_none_is_refused(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, "--until", "p=0.05")
    assert said.code == 2
    assert "ci=2%" in said.err


@pytest.fixture(scope="module")
def results(sqlite_url: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of two results of the same two queries."""
    folder = tmp_path_factory.mktemp("results")
    files = [str(folder / name) for name in ("old.json", "new.json")]
    for file in files:
        said = tare("time", "SELECT 1", "SELECT 2", "--db", sqlite_url, "--runs", "6", "--json", file)
        assert said.code == 0, said.err
    return files


def test_two_results_are_compared_without_a_database(results: list[str]) -> None:
    said = tare("compare", *results, TARE_DB="")
    assert (said.code, said.err) == (0, "")
    assert "not interleaved: drift of the machine is in it" in " ".join(said.out.split())
    assert {"SELECT 1", "SELECT 2"} <= {line[:8] for line in said.out.splitlines()}
    whole = tare("compare", *results, "-v")
    assert len(whole.out.splitlines()) > len(said.out.splitlines())
    document = tare("compare", *results, "--measure", "wall_ms", "--json", "-").result
    assert document["queries"][0]["comparison"]["margin"] is None
    document = tare("compare", *results, "--measure", "wall_ms", "--margin", "1000%", "--json", "-").result
    assert document["queries"][0]["comparison"]["margin"] == 10
    assert (document["schema"], document["primary"]) == ("tare-comparison/1", "wall_ms")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["OLD", "SELECT 1"], "old.json) and 1 queries are given"),
        (["OLD"], "old.json) and 0 queries are given"),
        (["OLD", "no-such.json"], "no-such.json cannot be read: No such file"),
        (["OLD", "NEW", "--runs", "7"], "--runs does not go with results"),
        (["OLD", "NEW", "--csv", "-"], "--csv does not go with results"),
        (["OLD", "NEW", "--measure", "joules"], "--measure joules"),
        (["OLD", "NEW", "--margin", "5"], "--margin 5: not a percentage"),
        (["SELECT 1", "SELECT 2"], "no database to weigh on"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: list[str], what: str, results: list[str]) -> None:
    named = [{"OLD": results[0], "NEW": results[1]}.get(word, word) for word in words]
    said = tare("compare", *named)
    assert said.code == 2
    assert what in said.err
    assert "next:" in said.err


def sessions(url: str) -> int:
    """Sessions that the database has had. Tare opens a second one beside each, for its own statements."""
    with psycopg.connect(url) as connection:
        time.sleep(0.2)  # a session reports itself when it ends
        found = connection.execute(
            "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert found is not None
    return int(found[0])


def test_each_pair_of_runs_has_a_fresh_session(twice: tuple[Said, int]) -> None:
    said, opened = twice
    assert said.result["comparison"]["blocks"] == "session"
    assert 10 <= opened <= 30


def test_all_pairs_of_runs_have_one_session_if_that_is_requested(postgresql_url: str) -> None:
    before = sessions(postgresql_url)
    words = ("--db", postgresql_url, "--runs", "8", "--blocks", "run", "--json", "-")
    said = tare("compare", FAST, SLOW, *words, *WARM)
    assert said.result["comparison"]["blocks"] == "run"
    assert 1 <= sessions(postgresql_url) - before - 1 <= 4
