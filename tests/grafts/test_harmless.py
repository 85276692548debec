"""A grafted server stays whole under every policy. `benchmarks.graft_harmless` does the same for longer."""

from __future__ import annotations

import pytest

pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")

from benchmarks.grafted import Harm, storm
from benchmarks.grafted.sessions import execute

from benchmarks import graft_harmless
from tare.dbms.servers import RunningServer
from tare.grafts.catalogue import LAZY_LRU, LOCK_ORDER, Graft


@pytest.fixture(params=[LOCK_ORDER, LAZY_LRU], ids=lambda graft: graft.name)
def graft(request: pytest.FixtureRequest, needs_mysql: None) -> Graft:
    chosen: Graft = request.param
    return chosen


@pytest.fixture
def server(graft: Graft, request: pytest.FixtureRequest) -> RunningServer:
    running: RunningServer = request.getfixturevalue(graft.name.replace("-", "_"))
    return running


def test_tpcc_and_innodb_find_the_data_whole_after_each_policy(server: RunningServer, graft: Graft) -> None:
    shown = graft_harmless.policies_keep_tpcc_consistent(server, graft, rate=150.0, seconds=1.0)
    assert "12 conditions" in shown


def test_a_thousand_switches_under_load_are_harmless(server: RunningServer) -> None:
    graft_harmless.switches_under_load_are_harmless(server, rate=150.0, seconds=4.0, switches=1000)


def test_a_deadlock_storm_ends_with_every_commit_there_and_nobody_behind(
    server: RunningServer, graft: Graft
) -> None:
    shown = graft_harmless.storms_end(server, graft, threads=24, seconds=1.5)
    assert all(policy.name in shown for policy in graft.policies)


def test_a_commit_that_the_table_lacks_is_harm(server: RunningServer) -> None:
    storm.make_tables(server.url)
    result = storm.storm(server.url, 4, 0.5)
    execute(server.url, "DELETE FROM storm_log ORDER BY number DESC LIMIT 1")
    with pytest.raises(Harm, match="commits; the table has"):
        storm.check(server.url, result)


def test_after_kill_9_the_server_recovers_with_its_graft_and_all_acknowledged_commits(graft: Graft) -> None:
    graft_harmless.kills_lose_nothing(graft, kills=2, threads=12)


def test_random_sql_has_the_answers_of_a_server_without_the_graft(graft: Graft) -> None:
    graft_harmless.answers_are_those_of_a_twin(graft, seconds=8.0)
