"""A cluster of PostgreSQL shards: it answers, and a stop leaves nothing, whatever was killed before."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from tare.cluster import cluster as clusters
from tare.cluster import removal
from tare.cluster.journal import Journal, Kind, Resource
from tests.cluster.leftovers import leftovers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


@pytest.fixture
def name() -> Iterator[str]:
    name = f"t{os.getpid()}"
    yield name
    clusters.stop(name)


def tare(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tare", "cluster", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_partitioned_table_is_answered_by_its_shards(name: str) -> None:
    started = tare("start", "postgresql", "--shards", "2", "--name", name, "--cpus", "1", "--json", "-")
    assert started.returncode == 0, started.stderr
    url = json.loads(started.stdout)["url"]
    with psycopg.connect(url, autocommit=True) as coordinator:
        coordinator.execute("CREATE TABLE t (a integer) PARTITION BY HASH (a)")
        for number in (1, 2):
            shard = json.loads(started.stdout)["nodes"][number]["name"]
            coordinator.execute(
                f"CREATE FOREIGN TABLE t{number} PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER {number - 1}) "
                f"SERVER {shard} OPTIONS (table_name 'part')"
            )
            node = clusters.find(name).nodes[number]
            shard_url = url.replace("/coordinator", f"/{node.name}")
            with psycopg.connect(shard_url, autocommit=True) as session:
                session.execute("CREATE TABLE part (a integer)")
        coordinator.execute("INSERT INTO t SELECT generate_series(1, 1000)")
        assert coordinator.execute("SELECT count(*), sum(a) FROM t").fetchone() == (1000, 500500)
    status = tare("status", "--name", name)
    assert status.returncode == 0
    assert status.stdout.count("ready") == 3
    assert tare("stop", "--name", name).returncode == 0
    assert leftovers(name) == []


def test_a_second_cluster_of_the_same_name_is_refused(name: str) -> None:
    assert tare("start", "postgresql", "--shards", "1", "--name", name).returncode == 0
    second = tare("start", "postgresql", "--shards", "1", "--name", name)
    assert second.returncode != 0
    assert "exists already" in second.stderr


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stop_removes_what_a_killed_start_left(name: str, seed: int) -> None:
    command = [
        sys.executable,
        "-m",
        "tare",
        "cluster",
        "start",
        "postgresql",
        "--shards",
        "1",
        "--name",
        name,
    ]
    starting = subprocess.Popen(
        [*command, "--disk", "512MB"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not Journal(name).resources() and starting.poll() is None:
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0, 5))
    starting.kill()
    starting.wait()
    assert leftovers(name) != []
    assert tare("stop", "--name", name).returncode == 0
    assert leftovers(name) == []


def test_a_stop_removes_a_cluster_whose_servers_were_killed(name: str) -> None:
    assert tare("start", "postgresql", "--shards", "1", "--name", name).returncode == 0
    for pid in removal.processes(Journal(name).resources()):
        with suppress(ProcessLookupError):  # others end with their postmaster
            os.kill(pid, signal.SIGKILL)
    assert tare("status", "--name", name).returncode == 3
    assert tare("stop", "--name", name).returncode == 0
    assert leftovers(name) == []


def test_a_line_cut_by_a_crash_is_passed_over(name: str) -> None:
    journal = Journal(name)
    journal.folder.mkdir(parents=True)
    journal.note(Resource(Kind.NAMESPACE, f"tare-{name}-x"))
    with (journal.folder / "journal").open("a") as out:
        out.write('["namespace", "tare-')
    assert journal.resources() == [Resource(Kind.NAMESPACE, f"tare-{name}-x")]
