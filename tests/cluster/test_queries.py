"""TPC-H on shards: rows are divided, and answers are those of one server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tare.cluster.engine import engine
from tare.cluster.postgresql import PostgreSQL
from tare.cluster.record import Cluster
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.dbms.servers import start_postgresql
from tare.workload.tpch.reference import difference
from tare.workload.tpch.tables import ensure_loaded, expected_rows, refuse_other_scale, row_counts
from tests.cli.running import tare
from tests.cluster.conftest import SCALE, count, needs_root

pytestmark = needs_root


@pytest.fixture(scope="module")
def single() -> Iterator[Session]:
    """Session on a single server that has the same rows."""
    with start_postgresql() as server:
        session = find(server.url).connect(server.url, allow_writes=True)
        ensure_loaded(session, SCALE, lambda step: None)
        yield session
        session.close()


@pytest.fixture(scope="module")
def session(loaded: Cluster) -> Iterator[Session]:
    url = engine(loaded.engine).url(loaded.coordinator)
    session = find(url).connect(url)
    yield session
    session.close()


@pytest.mark.parametrize("number", [1, 3, 5, 6, 12])
def test_a_query_gives_the_answer_of_one_server(session: Session, single: Session, number: int) -> None:
    assert difference(session, single, number, SCALE, 60.0) is None


def test_all_rows_are_there(session: Session) -> None:
    refuse_other_scale(row_counts(session), SCALE)


@pytest.mark.parametrize("table", ["orders", "lineitem", "part", "partsupp", "customer", "supplier"])
def test_each_shard_has_its_part_of_a_table(loaded: Cluster, table: str) -> None:
    parts = []
    for shard in loaded.shards:
        with PostgreSQL().connect(shard) as connection:
            parts.append(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    assert sum(parts) == count(loaded, table)
    assert min(parts) > max(parts) / 2


def test_a_join_on_the_partition_key_runs_on_the_shards(loaded: Cluster) -> None:
    sql = "EXPLAIN SELECT count(*) FROM lineitem JOIN orders ON l_orderkey = o_orderkey"
    plan = "\n".join(str(row[0]) for row in engine(loaded.engine).run(loaded, sql))
    assert "INNER JOIN (orders_s1" in plan
    assert "INNER JOIN (orders_s2" in plan


def test_shards_are_read_at_the_same_time(loaded: Cluster) -> None:
    plan = engine(loaded.engine).run(loaded, "EXPLAIN SELECT * FROM lineitem")
    assert sum("Async Foreign Scan" in str(row[0]) for row in plan) == 2


def test_small_tables_lie_on_the_coordinator(loaded: Cluster) -> None:
    sql = "SELECT relname, relkind FROM pg_class WHERE relname IN ('nation', 'region', 'orders') ORDER BY 1"
    assert engine(loaded.engine).run(loaded, sql) == [("nation", "r"), ("orders", "p"), ("region", "r")]
    assert count(loaded, "nation") == expected_rows(SCALE)["nation"].start


def test_its_nodes_are_observed_by_name(loaded: Cluster) -> None:
    said = tare(
        "os", "run", "tpch", "--cluster", loaded.name, "--queries", "6", "--runs", "1", "--level", "messages",
        "--json", "-",
    )  # fmt: skip
    assert said.code == 0, said.err
    (window,) = [one for one in json.loads(said.out)["observation"]["windows"] if one["is_traced"]]
    assert {role["node"] for role in window["roles"]} == {"c", "s1", "s2"}
    senders = {message["node"] for message in window["messages"]}
    assert senders == {"c", "s1", "s2"}
    assert not window["lost"]
    sent = sum(role["sockets"]["sent_bytes"] for role in window["roles"])
    received = sum(role["sockets"]["received_bytes"] for role in window["roles"])
    assert sent == received == sum(message["bytes"] for message in window["messages"]) > 0
