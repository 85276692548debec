"""Queries on real servers, observed: roles, calls and the checks of the kernel's own counters."""

from __future__ import annotations

import pytest

from tare.dbms.registry import find
from tare.measure.query import Query
from tare.os.level import Level
from tare.os.record import Observation, RoleCounts, summed
from tare.os.run import RunRequest, run
from tests.servers import fill_server, own_server

WORK = Query("work", "SELECT count(*), sum(val) FROM numbers WHERE txt <> 'x'")
BAD = Query("bad", "SELECT no_such_column FROM numbers")


def observed(url: str, request: RunRequest, *queries: Query) -> Observation:
    return run(lambda: find(url).connect(url), queries, request)


def role(observation: Observation, name: str) -> RoleCounts:
    """Sum over all windows that counted."""
    return summed(counts for window in observation.windows for counts in window.roles if counts.role == name)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


def test_proc_sees_the_query_at_work(url: str) -> None:
    observation = observed(url, RunRequest(runs=3, level=Level.PROC), WORK)
    assert [(window.is_traced, window.number) for window in observation.windows] == [
        (False, 0),
        (False, 1),
        (False, 2),
    ]
    query = role(observation, "query")
    assert query.times.on_cpu_ns > 0
    assert query.kept.run_ns == query.times.on_cpu_ns
    assert all(window.read_ns >= window.wall_ns for window in observation.windows)
    assert observation.dbms is not None
    assert observation.server_version is not None
    assert observation.absent.keys() == {"calls", "cache", "disk", "sockets"}


def test_a_pair_has_one_traced_execution(url: str, full: Level) -> None:
    observation = observed(url, RunRequest(runs=2, level=full), WORK)
    windows = observation.windows
    assert len(windows) == 4
    assert {windows[0].is_traced, windows[1].is_traced} == {True, False}
    assert {windows[2].is_traced, windows[3].is_traced} == {True, False}
    query = role(observation, "query")
    assert query.calls
    assert query.times.residue_ns == pytest.approx(0, abs=0.01 * query.times.present_ns)
    assert query.kept.run_ns == pytest.approx(query.times.on_cpu_ns, rel=0.05, abs=2_000_000)
    assert all(window.lost == {} for window in windows)


def test_a_query_that_fails_leaves_the_others(url: str) -> None:
    observation = observed(url, RunRequest(runs=1, level=Level.PROC), BAD, WORK)
    assert list(observation.failures) == ["bad"]
    assert "no_such_column" in observation.failures["bad"]
    assert [window.name for window in observation.windows] == ["work"]


def test_processes_of_postgresql_have_their_roles(postgresql_url: str) -> None:
    observation = observed(postgresql_url, RunRequest(runs=1, level=Level.PROC), WORK)
    (window,) = observation.windows
    roles = {counts.role: counts.threads for counts in window.roles}
    assert roles["query"] == 1
    assert roles["prefetcher (I/O worker)"] == 3
    assert {"postmaster", "checkpointer", "background writer", "WAL writer", "autovacuum", "launcher"} <= set(
        roles
    )
    assert {counts.node for counts in window.roles} == {"server"}


def test_threads_of_mariadb_are_the_query_or_in_the_background(mariadb_url: str) -> None:
    observation = observed(mariadb_url, RunRequest(runs=1, level=Level.PROC), WORK)
    roles = {counts.role: counts.threads for counts in observation.windows[0].roles}
    assert roles["query"] == 1
    assert roles.keys() - {"io_uring worker"} == {"query", "background"}


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_a_cold_engine_reads_from_the_disk(dbms: str, request: pytest.FixtureRequest, full: Level) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    observation = observed(url, RunRequest(runs=1, level=full, is_cold=True), WORK)
    query = role(observation, "query")
    assert observation.cold
    assert query.cache is not None
    assert query.cache.missed + query.cache.ahead > 0
    assert query.disk is not None
    assert query.disk.read_bytes == query.kept.read_bytes
    assert query.disk.read_bytes > 0


def test_a_cold_server_is_started_again_and_reads_from_the_disk(full: Level) -> None:
    """Each execution meets other processes. The kernel's own count of bytes read agrees."""
    with own_server("postgresql") as server:
        fill_server(server.url)
        observation = observed(server.url, RunRequest(runs=2, level=full, is_cold=True), WORK)
    total = summed(counts for window in observation.windows for counts in window.roles)
    assert len(observation.windows) == 4
    assert total.disk is not None
    assert total.disk.read_bytes > 0
    assert total.kept.read_bytes == pytest.approx(total.disk.read_bytes, rel=0.05)
    assert role(observation, "query").threads == 2
