"""Processes and threads that answer for a connection, and what the others are."""

from __future__ import annotations

import os
import threading
import time

import pytest

from tare._probe import Probe, ProbeError, read_process
from tare.dbms.base import Role, Session
from tare.dbms.registry import find
from tests.dbms.processes import children, ran_and_waited_ns, run_ns

BURN = "SELECT count(*) FROM numbers a, numbers b WHERE a.id <= {} AND a.val * b.val < 7"


def test_the_leader_is_alive_and_burns_the_cpu_that_the_query_needs(session: Session, dbms: str) -> None:
    leader = session.leader()
    assert leader is not None
    assert session.server.local
    prepared = session.prepare(BURN.format(1500 if dbms == "duckdb" else 300))
    tid = None if leader.whole_process else leader.tid
    ran, busy, began = run_ns(leader.pid, tid), ran_and_waited_ns(leader.pid, tid), time.monotonic_ns()
    prepared.execute(60)
    wall = time.monotonic_ns() - began
    assert run_ns(leader.pid, tid) - ran > 20_000_000, "the query is too small for this test"
    assert ran_and_waited_ns(leader.pid, tid) - busy > 0.5 * wall


def test_the_leader_stays_the_same_from_statement_to_statement(session: Session) -> None:
    first = session.leader()
    session.prepare("SELECT 1").execute(5)
    assert session.leader() == first


def test_two_sessions_have_two_leaders(session: Session, url: str) -> None:
    other = find(url).connect(url)
    try:
        ours, theirs = session.leader(), other.leader()
        assert ours is not None
        assert theirs is not None
        assert ours.tid != theirs.tid
    finally:
        other.close()


def test_the_leader_is_a_query_process_and_we_are_none_of_the_dbms(session: Session) -> None:
    leader = session.leader()
    assert leader is not None
    assert session.role(read_process(leader.pid), leader) is Role.QUERY
    assert session.role(read_process(1), leader) is None


def test_this_process_has_no_role_in_the_dbms(session: Session) -> None:
    leader = session.leader()
    assert leader is not None
    assert session.role(read_process(os.getpid()), leader) is None


@pytest.mark.parametrize("name", ["postgresql", "postgresql15"])
def test_other_processes_of_the_postmaster_are_utilities(name: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{name}_url")
    session, other = find(url).connect(url), find(url).connect(url)
    try:
        leader, neighbour = session.leader(), other.leader()
        assert leader is not None
        assert neighbour is not None
        (postmaster,) = session.worker_parents(leader)
        roles = {pid: session.role(read_process(pid), leader) for pid in children(postmaster)}
        assert roles.pop(leader.pid) is Role.QUERY
        assert roles[neighbour.pid] is Role.UTILITY
        assert set(roles.values()) == {Role.UTILITY}
        assert session.role(read_process(postmaster), leader) is Role.UTILITY
        titles = " ".join(read_process(pid).cmdline for pid in roles)
        assert "checkpointer" in titles
        if name == "postgresql":
            assert "io worker" in titles
    finally:
        session.close()
        other.close()


@pytest.mark.parametrize("name", ["postgresql", "postgresql15"])
def test_two_postgresql_servers_are_strangers(name: str, request: pytest.FixtureRequest) -> None:
    other_name = {"postgresql": "postgresql15", "postgresql15": "postgresql"}[name]
    urls = [request.getfixturevalue(f"{each}_url") for each in (name, other_name)]
    session, other = (find(url).connect(url) for url in urls)
    try:
        leader, stranger = session.leader(), other.leader()
        assert leader is not None
        assert stranger is not None
        assert session.role(read_process(stranger.pid), leader) is None
    finally:
        session.close()
        other.close()


SCAN = "SELECT sum(length(md5(repeat(txt, {})))) FROM numbers"
PARALLEL = """
    SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = on
"""


@pytest.mark.parametrize("name", ["postgresql", "postgresql15"])
def test_parallel_workers_are_query_processes_also_after_their_end(
    name: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{name}_url")
    try:
        listener = Probe().listen()
    except ProbeError as error:
        pytest.skip(f"no exit listener for this user: {error}")
    session, other = find(url).connect(url), None
    try:
        leader = session.leader()
        assert leader is not None
        session.run(PARALLEL)
        assert "Gather" in str(session.explain(SCAN.format(200)).root)
        prepared = session.prepare(SCAN.format(200))
        listener.drain()
        prepared.execute(60)
        other = find(url).connect(url)  # a backend born after the query
        other.close()
        time.sleep(0.3)
        roles = [session.exit_role(exit_, leader) for exit_ in listener.drain() if exit_.last_of_group]
    finally:
        session.close()
        listener.stop()
    assert roles.count(Role.QUERY) == 2
    assert Role.UTILITY in roles  # that backend


def test_a_running_parallel_worker_is_a_query_process(postgresql_url: str) -> None:
    session = find(postgresql_url).connect(postgresql_url)
    try:
        leader = session.leader()
        assert leader is not None
        session.run(PARALLEL)
        prepared = session.prepare(SCAN.format(8000))
        runner = threading.Thread(target=prepared.execute, args=(60,))
        (postmaster,) = session.worker_parents(leader)
        runner.start()
        seen: set[int] = set()
        while runner.is_alive() and len(seen) < 2:
            for pid in children(postmaster):
                try:
                    process = read_process(pid)
                except ProbeError:
                    continue
                if pid != leader.pid and session.role(process, leader) is Role.QUERY:
                    assert f"parallel worker for PID {leader.pid}" in process.cmdline
                    seen.add(pid)
        runner.join()
        assert len(seen) == 2
    finally:
        session.close()
