"""What a query answers is compared as asked: doubles by tolerance, all else exactly, or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import tare

AVERAGES = "SELECT grp, avg(val) FROM numbers GROUP BY grp"


@pytest.fixture
def own_duckdb(tmp_path: Path) -> str:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE numbers AS SELECT i AS id, i % 100 AS grp, sin(i) AS val FROM range(1000) s(i)"
        )
    return f"duckdb:///{path}"


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    "sql", ["SELECT random()", "SELECT now()", "EXPLAIN ANALYZE SELECT count(*) FROM numbers",
            "SELECT count(*) FROM numbers TABLESAMPLE BERNOULLI (10)"],
)  # fmt: skip
def test_a_query_may_answer_what_it_likes_where_any_is_asked(postgresql_url: str, sql: str) -> None:
    said = tare("time", sql, "--db", postgresql_url, "--runs", "3", "--answer", "any")
    assert said.code == 0, said.err
    assert "others differ, as --answer any allows" in flat(said.out)
    assert "not every run gave the same answer" not in flat(said.out)


def test_a_change_after_the_warm_up_is_reported_and_never_contradicted(own_duckdb: str) -> None:
    said = tare(
        "time", AVERAGES, "--db", own_duckdb, "--runs", "3", "--warmup", "1", "--allow-writes",
        "--conclude", "UPDATE numbers SET val = val * 1.0000001 WHERE id = 7",
    )  # fmt: skip
    assert said.code == 1
    assert "gave another answer than before: a floating-point value differs by" in said.err
    assert "others differ" in flat(said.out)
    assert not re.search(r"hash \w+, the same in every run", flat(said.out))


def test_the_largest_difference_between_doubles_is_in_the_result(own_duckdb: str) -> None:
    words = ("time", AVERAGES, "--db", own_duckdb, "--runs", "3", "--warmup", "0", "--allow-writes",
             "--conclude", "UPDATE numbers SET val = val * (1 + 1e-13) WHERE id = 7", "--json", "-")  # fmt: skip
    said = tare(*words)
    assert said.code == 0, said.err
    answer = said.result["results"][0]["answer"]
    assert answer["consistent"]
    assert answer["compared"] == "close"
    assert 1e-15 < answer["difference"] < 1e-11
    assert tare(*words, "--answer", "exact").code == 1


def test_two_queries_that_sum_in_another_order_give_one_answer(postgresql_url: str) -> None:
    other = "SELECT grp, sum(val * 0.1) / count(*) / 0.1 FROM numbers GROUP BY grp"
    said = tare("compare", AVERAGES, other, "--db", postgresql_url, "--runs", "2", "--json", "-")
    assert said.code == 0, said.err
    assert said.result["comparison"]["answers_agree"] is True
    said = tare("compare", AVERAGES, other.replace("sum", "1 + sum"), "--db", postgresql_url, "--runs", "2")
    assert "A and B do not give the same answer" in flat(said.out)
