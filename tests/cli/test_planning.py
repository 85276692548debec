"""`tare time` and `tare compare` count what a client pays: planning is a part of the total, and is shown apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.cli.running import tare
from tests.cli.test_compare import WARM

PARTITIONS = 300
TABLES = range(1, 10)

# All partitions are planned; one is read, which only the execution can choose.
PARTITIONED = "SELECT val FROM measured WHERE id = (SELECT 5)"

# One answer from nine tables of one row: the planner tries every order, or has three of three tables to try.
WHOLE = "SELECT count(*) FROM " + ", ".join(f"one_{i}" for i in TABLES) + " WHERE " + " AND ".join(
    f"one_{i}.a = one_{i + 1}.a" for i in TABLES[:-1]
)  # fmt: skip
FENCED = """
WITH first AS MATERIALIZED (SELECT one_1.a FROM one_1, one_2, one_3 WHERE one_1.a = one_2.a AND one_2.a = one_3.a),
second AS MATERIALIZED (SELECT one_4.a FROM one_4, one_5, one_6 WHERE one_4.a = one_5.a AND one_5.a = one_6.a)
SELECT count(*) FROM first, second, one_7, one_8, one_9
WHERE first.a = second.a AND first.a = one_7.a AND one_7.a = one_8.a AND one_8.a = one_9.a
"""


@pytest.fixture(scope="module")
def planned_url(postgresql_url: str) -> Iterator[str]:
    """PostgreSQL with a table of many partitions of one row, and nine tables of one row."""
    names = [f"one_{i}" for i in TABLES]
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("CREATE TABLE measured (id integer, val integer) PARTITION BY RANGE (id)")
        for i in range(PARTITIONS):
            connection.execute(
                f"CREATE TABLE measured_{i} PARTITION OF measured FOR VALUES FROM ({i}) TO ({i + 1})"
            )
        connection.execute(f"INSERT INTO measured SELECT i, i FROM generate_series(0, {PARTITIONS - 1}) AS i")
        connection.execute("ANALYZE measured")
        for name in names:
            connection.execute(f"CREATE TABLE {name} AS SELECT 1 AS a")
            connection.execute(f"ANALYZE {name}")
    yield postgresql_url
    with psycopg.connect(postgresql_url) as connection:
        connection.execute(f"DROP TABLE measured, {', '.join(names)}")


def weighed(sql: str, url: str, *more: str) -> dict[str, Any]:
    said = tare("time", sql, "--db", url, "--runs", "6", "--json", "-", *more)
    assert said.code == 0, said.err
    result: dict[str, Any] = said.result
    return result


@pytest.fixture(scope="module")
def whole(planned_url: str) -> dict[str, Any]:
    """The join of all nine tables, planning on the clock."""
    return weighed(WHOLE, planned_url)


@pytest.fixture(scope="module")
def rewritten(planned_url: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """A comparison of the join with its rewrite, as JSON and as text."""
    file = tmp_path_factory.mktemp("rewritten") / "result.json"
    words = ("--db", planned_url, "--runs", "10", "--json", str(file))
    said = tare("compare", WHOLE, FENCED, *words, *WARM)
    assert said.code == 0, said.err
    return json.loads(file.read_text())["comparison"], said.out


def medians(result: dict[str, Any]) -> dict[str, float]:
    return {name: one["median"] for name, one in result["results"][0]["phases"].items()}


def add_up(query: dict[str, Any]) -> None:
    """Both pairs of phases add up to their totals, in every run."""
    phases = query["phases"]
    for total, parts in (
        (query["measures"]["wall_ms"], ("planning_ms", "execution_ms")),
        (query["resources"]["cpu_ms"], ("planning_cpu_ms", "execution_cpu_ms")),
    ):
        for whole, planning, execution in zip(
            total["samples"], *(phases[name]["samples"] for name in parts), strict=True
        ):
            assert planning > 0
            assert planning + execution == pytest.approx(whole, abs=1e-5)


def test_planning_is_clocked_and_its_parts_add_up(whole: dict[str, Any], planned_url: str) -> None:
    for result in (whole, weighed(PARTITIONED, planned_url)):
        assert result["clocked"] == "total"
        add_up(result["results"][0])


def test_planning_of_nine_joined_rows_is_the_larger_part_of_the_total(whole: dict[str, Any]) -> None:
    found = medians(whole)
    assert found["planning_ms"] > 3 * found["execution_ms"]
    assert found["planning_cpu_ms"] > 3 * found["execution_cpu_ms"]


def test_execution_only_leaves_planning_off_the_clock(whole: dict[str, Any], planned_url: str) -> None:
    only = weighed(WHOLE, planned_url, "--execution-only")
    assert only["clocked"] == "execution"
    assert only["results"][0]["phases"] is None
    walls = [result["results"][0]["measures"]["wall_ms"]["median"] for result in (whole, only)]
    assert walls[0] > 2 * walls[1]


def test_a_rewrite_that_gains_in_planning_is_found_and_located(
    rewritten: tuple[dict[str, Any], str],
) -> None:
    comparison, _ = rewritten
    assert comparison["greater"] == "A"
    assert comparison["answers_agree"] is True
    assert comparison["parts"]["planning_share"] > 0.9
    assert comparison["parts"]["planning"]["greater"] == "A"


def test_the_first_lines_of_a_comparison_say_where_the_difference_lies(
    rewritten: tuple[dict[str, Any], str],
) -> None:
    _, text = rewritten
    assert "of it is in planning" in " ".join(text.partition("\n\n")[0].split())


def test_the_same_rewrite_by_execution_only_has_no_planning(whole: dict[str, Any], planned_url: str) -> None:
    words = ("--db", planned_url, "--runs", "6", "--execution-only", "--blocks", "run", "--json", "-")
    said = tare("compare", WHOLE, FENCED, *words, *WARM)
    assert said.code == 0, said.err
    assert said.result["comparison"]["parts"] is None
    (a, _) = said.result["results"]
    assert a["measures"]["wall_ms"]["median"] * 3 < medians(whole)["planning_ms"]


@pytest.mark.parametrize("fixture", ["sqlite_url", "duckdb_url"])
def test_an_embedded_engine_plans_apart_as_well(fixture: str, request: pytest.FixtureRequest) -> None:
    result = weighed("SELECT grp, count(*) FROM numbers GROUP BY grp", request.getfixturevalue(fixture))
    add_up(result["results"][0])


@pytest.mark.mariadb
def test_planning_inside_execution_is_said_and_in_the_total(mariadb_url: str) -> None:
    result = weighed("SELECT grp, count(*) FROM numbers GROUP BY grp", mariadb_url)
    (query,) = result["results"]
    assert result["clocked"] == "total"
    assert query["measures"]["wall_ms"]["median"] > 0
    for one in query["phases"].values():
        assert one["median"] is None
        assert "within its execution" in one["reason"]


def test_the_first_line_of_a_parallel_query_names_leader_and_workers(postgresql_url: str) -> None:
    sql = "SELECT count(*), sum(sqrt(a.id)) FROM numbers a, generate_series(1, 60) g WHERE a.id % 7 <> g % 7"
    parallel = (
        "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
        "SET min_parallel_table_scan_size = 0"
    )
    said = tare("time", sql, "--db", postgresql_url, "--runs", "3", "--warmup", "1", "--setup", parallel)
    assert said.code == 0, said.err
    first = " ".join(said.out.partition("\n\n")[0].split())
    assert "of CPU time (leader " in first
    assert "worker" in first


def test_leader_and_workers_add_up_to_the_cpu_time(postgresql_url: str, duckdb_url: str) -> None:
    for url in (postgresql_url, duckdb_url):
        (query,) = weighed("SELECT grp, count(*) FROM numbers GROUP BY grp", url)["results"]
        names = ("cpu_ms", "leader_cpu_ms", "workers_cpu_ms")
        for whole, leader, workers in zip(
            *(query["resources"][name]["samples"] for name in names), strict=True
        ):
            assert leader + workers == pytest.approx(whole, abs=1e-5)
