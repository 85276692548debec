"""Watches of real servers and nodes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.local import Life
from tare.dbms.registry import find
from tare.errors import UsageError
from tare.os.events import Event, Passed
from tare.os.level import Level
from tare.os.nodes import NodeSpec
from tare.os.subject import of_nodes, of_server
from tare.os.watch import observe


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


@pytest.fixture
def cgroup(sleeper: int) -> Iterator[Path]:
    """A control group with the process in a group below it, under version 1 or 2."""
    roots = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
    root = next((one for one in roots if (one / "cgroup.procs").is_file()), None)
    if root is None or not os.access(root, os.W_OK):
        pytest.skip("no control group can be made here")
    group = root / f"tare-test-{os.getpid()}"
    below = group / "below"
    try:
        below.mkdir(parents=True)
        (below / "cgroup.procs").write_text(str(sleeper))
        yield group
        (root / "cgroup.procs").write_text(str(sleeper))
    finally:
        for folder in (below, group):
            if folder.is_dir():
                folder.rmdir()


@pytest.mark.parametrize("dbms", ["postgresql", "mariadb"])
def test_a_server_is_watched_without_tares_own_session(dbms: str, request: pytest.FixtureRequest) -> None:
    session = find(request.getfixturevalue(f"{dbms}_url")).connect(request.getfixturevalue(f"{dbms}_url"))
    leader = session.leader()
    assert leader is not None
    own = Life.of(leader.pid)
    subject = of_server(session)
    (node,) = subject.nodes
    assert subject.leader is None
    assert node.name == "server"
    assert (leader.pid in node.processes) == (dbms == "mariadb")
    assert subject.own == (None if dbms == "mariadb" else own)
    while subject.own is not None and subject.own.lasts():  # the session was closed: its process ends
        time.sleep(0.001)
    observation = observe(subject, Level.PROC, 0.1)
    assert "query" not in {counts.role for counts in observation.windows[0].roles}
    assert observation.dbms == dbms


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_an_embedded_engine_has_no_server_to_watch(dbms: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    with pytest.raises(UsageError, match="has no server") as raised:
        of_server(find(url).connect(url))
    assert "--pid" in raised.value.next_step


def test_a_control_group_is_a_node(cgroup: Path, sleeper: int) -> None:
    subject = of_nodes([NodeSpec("one", "cgroup", str(cgroup))])
    assert subject.nodes[0].processes == (sleeper,)
    observation = observe(subject, Level.PROC, 0.05)
    assert [(counts.node, counts.role) for counts in observation.windows[0].roles] == [("one", "sleep")]


def test_a_path_below_the_mounted_groups_names_the_same(cgroup: Path, sleeper: int) -> None:
    place = str(cgroup.relative_to("/sys/fs/cgroup"))
    assert of_nodes([NodeSpec("one", "cgroup", place)]).nodes[0].processes == (sleeper,)


def test_a_traced_watch_counts_the_load_of_others(postgresql_url: str, full: Level) -> None:
    """Another session works between the ends of the window."""
    subject = of_server(find(postgresql_url).connect(postgresql_url))
    done: list[Event] = []

    def work(event: Event) -> None:
        if isinstance(event, Passed) and not done:
            done.append(event)
            other = find(postgresql_url).connect(postgresql_url)
            other.run("SELECT count(*) FROM numbers")
            other.close()

    observation = observe(subject, full, 0.3, hear=work)
    (window,) = observation.windows
    backends = [counts for counts in window.roles if counts.role == "backend"]
    assert backends
    assert backends[0].calls
    assert backends[0].times.on_cpu_ns > 0
    assert backends[0].sockets is not None
    assert backends[0].sockets.local_sends > 0
