"""After `kill -9` of anything at any moment, a stop leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tare.cluster import cgroup, record
from tare.cluster.record import Cluster
from tare.cluster.status import status
from tare.cluster.stop import stop
from tests.cluster.conftest import needs_root
from tests.cluster.leftovers import leftovers

pytestmark = needs_root

AT_A_STEP = """
import os, sys
from tare.cluster.start import start
from tests.cluster.conftest import request_of

def report(step):
    if step == sys.argv[2]:
        os.kill(os.getpid(), 9)

start(request_of(sys.argv[1]), report)
"""

WITHIN_A_STEP = """
import os, sys, threading, time
from tare.cluster import cgroup, record
from tare.cluster.start import start
from tests.cluster.conftest import request_of

def kill():
    cluster = record.read(sys.argv[1])
    names = [cluster.helpers, *(node.cgroup for node in cluster.nodes)]
    groups = [cgroup.Group(name, cgroup.layout()) for name in names]
    while not any(group.processes() for group in groups):
        pass
    os.kill(os.getpid(), 9)

def report(step):
    if step == sys.argv[2]:
        threading.Thread(target=kill, daemon=True).start()

start(request_of(sys.argv[1]), report)
"""

LOADING = """
import os, sys
from tare.cluster.load import load_tpch

def report(step):
    if step == "loading the shards":
        os.kill(os.getpid(), 9)

load_tpch(sys.argv[1], 0.01, report)
"""


@pytest.mark.parametrize(
    "step", ["making cgroups", "making namespaces", "linking nodes", "making disks", "starting servers"]
)
def test_a_start_killed_before_a_step(name: str, step: str) -> None:
    assert _run(AT_A_STEP, name, step) == -signal.SIGKILL
    cluster = record.read(name)
    assert cluster is not None
    assert cluster.step == step
    assert stop(name)


@pytest.mark.parametrize(
    "step",
    ["making namespaces", "linking nodes", "making disks", "making data directories", "starting servers"],
)
def test_a_start_killed_while_its_helpers_run(name: str, step: str) -> None:
    assert _run(WITHIN_A_STEP, name, step) == -signal.SIGKILL
    assert stop(name)


def test_a_start_killed_before_anything_was_recorded(name: str) -> None:
    record.folder(name).mkdir(parents=True)
    assert stop(name)


def test_a_stop_ends_a_start_that_runs(name: str) -> None:
    with _begun(AT_A_STEP, name, "none") as starting:
        while (cluster := record.read(name)) is None or cluster.step != "making data directories":
            assert starting.poll() is None
            time.sleep(0.001)
        assert stop(name)
        assert starting.wait(30) == -signal.SIGKILL


def test_a_start_interrupted_leaves_nothing(name: str) -> None:
    words = ("cluster", "start", "postgresql", "--shards", "2", "--name", name, "--disk-size", "1")
    with subprocess.Popen(
        [sys.executable, "-m", "tare", *words], stderr=subprocess.PIPE, text=True
    ) as starting:
        while (cluster := record.read(name)) is None or cluster.step != "making data directories":
            assert starting.poll() is None
            time.sleep(0.001)
        starting.send_signal(signal.SIGINT)
        _, message = starting.communicate(timeout=60)
    assert starting.returncode == 130
    assert "interrupted" in message
    assert leftovers(name) == []


def test_a_load_killed(name: str, started: Callable[..., Cluster]) -> None:
    started(1)
    assert _run(LOADING, name) == -signal.SIGKILL
    assert status(name).is_ready
    assert stop(name)


@pytest.mark.parametrize("killed", ["c", "s1"])
def test_a_postmaster_killed(name: str, killed: str, started: Callable[..., Cluster]) -> None:
    started(1)
    nodes = {one.node.name: one for one in status(name).nodes}
    pid = nodes[killed].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}/root"):  # noqa: PTH110
        time.sleep(0.01)
    found = status(name)
    assert not found.is_ready
    assert {one.node.name: one.pid is None for one in found.nodes} == {
        other: other == killed for other in ("c", "s1")
    }
    assert stop(name)


def test_all_processes_of_a_node_killed(name: str, started: Callable[..., Cluster]) -> None:
    made = started(1)
    cgroup.Group(made.shards[0].cgroup, cgroup.layout()).kill()
    assert [one.pid is None for one in status(name).nodes] == [False, True]
    assert stop(name)


def test_a_stop_killed_is_finished_by_the_next(name: str, started: Callable[..., Cluster]) -> None:
    started(1)
    script = """
import os, sys
from tare.cluster import namespace
from tare.cluster.stop import stop
namespace.remove = lambda name: os.kill(os.getpid(), 9)
stop(sys.argv[1])
"""
    assert _run(script, name) == -signal.SIGKILL
    assert leftovers(name) != []
    assert stop(name)


def test_two_stops_at_once(name: str, started: Callable[..., Cluster]) -> None:
    started(1)
    script = "import sys; from tare.cluster.stop import stop; stop(sys.argv[1])"
    with _begun(script, name) as first, _begun(script, name) as second:
        assert [first.wait(60), second.wait(60)] == [0, 0]


def _run(script: str, *words: str) -> int:
    with _begun(script, *words) as process:
        return process.wait(120)


def _begun(script: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, *words])
