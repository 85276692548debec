"""Clusters start with what was requested of them, and nothing of them is left after a stop."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tare.cluster import cgroup, record
from tare.cluster.engine import engine
from tare.cluster.load import load_tpch
from tare.cluster.record import Cluster
from tare.cluster.request import ClusterRequest
from tare.cluster.start import start
from tare.cluster.status import status
from tare.cluster.stop import stop
from tare.errors import NotEnoughDisk, ServerFailed, UsageError
from tests.cluster.conftest import SCALE, fresh_name, needs_root, request_of
from tests.cluster.leftovers import leftovers

pytestmark = needs_root
Start = Callable[..., Cluster]


def test_status_shows_every_node_with_its_limits(name: str, started: Start) -> None:
    made = started(cpus=0.2, memory_bytes=512 << 20, rate_bits=10**8, read_ahead_kib=64)
    found = status(name)
    assert found.is_ready
    assert not found.is_busy
    assert [one.node.name for one in found.nodes] == ["c", "s1", "s2"]
    for one in found.nodes:
        assert one.answers
        assert one.read_ahead_kib == 64
        assert one.cpus is None  # until data are loaded
        assert one.roles["postmaster"] == one.roles["checkpointer"] == 1
        assert Path(f"/proc/{one.pid}/ns/net").stat().st_ino == one.namespace_inode
    queues = _within(made.nodes[1].namespace, "tc", "qdisc", "show", "dev", "eth0")
    assert "tbf" in queues
    assert "rate 100Mbit" in queues
    where = cgroup.layout()
    limit = "memory.max" if where.unified else "memory.limit_in_bytes"
    assert (where.mounts["memory"] / made.nodes[1].cgroup / limit).read_text().strip() == str(512 << 20)
    stop(name)


def test_no_server_listens_outside_of_its_namespace(name: str, started: Start) -> None:
    made = started()
    ours = _run("ss", "-ltn") if shutil.which("ss") else Path("/proc/net/tcp").read_text()
    assert made.coordinator.address not in ours
    assert "10.77." not in _run("ip", "address")
    assert made.nodes[1].address in _within(made.nodes[1].namespace, "ip", "address")
    stop(name)


@pytest.mark.parametrize("version", ["15", "18"])
def test_shards_are_of_the_requested_version(name: str, version: str) -> None:
    request = ClusterRequest("postgresql", name, 1, request_of(name).limits, version=version)
    made = start(request)
    assert made.shards[0].version.startswith(f"{version}.")
    rows = engine(made.engine).run(made, "SELECT count(*) FROM pg_foreign_server")
    assert rows == [(1,)]
    stop(name)


def test_servers_run_as_an_ordinary_user(name: str, started: Start) -> None:
    started(1)
    for one in status(name).nodes:
        process = Path(f"/proc/{one.pid}")
        assert process.stat().st_uid != 0
        # Shared memory that a killed server leaves ends with its namespace.
        assert (process / "ns/ipc").stat().st_ino != Path("/proc/self/ns/ipc").stat().st_ino
        assert "/dev/shm/" not in (process / "maps").read_text()
    stop(name)


def test_the_quota_applies_once_data_are_loaded(name: str, started: Start) -> None:
    started(1, cpus=0.2)
    loaded = load_tpch(name, SCALE)
    assert loaded.quota_applied
    assert [one.cpus for one in status(name).nodes] == [0.2, 0.2]
    engine(loaded.engine).run(loaded, "SELECT count(*) FROM generate_series(1, 3000000)")
    coordinator = status(name).nodes[0]
    assert coordinator.throttled_periods > 0
    assert coordinator.throttled_s > 0
    stop(name)


def test_a_second_load_of_the_same_is_none_and_of_another_is_refused(name: str, started: Start) -> None:
    started(1)
    load_tpch(name, SCALE)
    steps: list[str] = []
    load_tpch(name, SCALE, steps.append)
    assert steps == ["TPC-H at scale 0.01 is loaded already"]
    with pytest.raises(UsageError, match=r"TPC-H at scale 0\.01"):
        load_tpch(name, 0.02)
    stop(name)


def test_a_full_disk_is_named(name: str, started: Start) -> None:
    started(1, disk_bytes=256 << 20)
    with pytest.raises(NotEnoughDisk, match=r"node s1 is full .*256 MiB") as refused:
        load_tpch(name, 0.2)
    assert "--disk-size" in refused.value.next_step
    stop(name)


def test_two_clusters_at_once(name: str, started: Start) -> None:
    first = started(1)
    other = fresh_name()
    try:
        second = start(request_of(other, 1))
        addresses = [node.address for cluster in (first, second) for node in cluster.nodes]
        assert len(set(addresses)) == 4
        assert status(name).is_ready
        assert status(other).is_ready
        stop(other)
        assert leftovers(other) == []
        assert status(name).is_ready
    finally:
        stop(other)
    stop(name)


def test_stopping_is_safe_to_repeat(name: str, started: Start) -> None:
    started(1)
    assert stop(name)
    assert not stop(name)
    assert leftovers(name) == []


def test_a_given_directory_stays_and_is_empty(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    request = request_of(name, 1)
    start(ClusterRequest(request.engine, name, 1, request.limits, directory=folder))
    assert sorted(path.name for path in folder.iterdir()) == ["c", "c.img", "s1", "s1.img"]
    stop(name)
    assert list(folder.iterdir()) == []


def test_a_start_that_fails_leaves_nothing(name: str) -> None:
    request = ClusterRequest("postgresql", name, 1, request_of(name).limits, settings={"work_mem": "much"})
    with pytest.raises(ServerFailed, match="work_mem"):
        start(request)
    assert leftovers(name) == []


def test_a_disk_in_use_is_reported_and_a_second_stop_goes_on(name: str, started: Start) -> None:
    made = started(1)
    guest = subprocess.Popen(["sleep", "600"], cwd=made.nodes[1].mount)
    try:
        with pytest.raises(ServerFailed, match=rf"node s1 .* in use .*PID {guest.pid}"):
            stop(name)
        assert record.read(name) is not None
    finally:
        guest.kill()
        guest.wait()
    stop(name)


def test_a_namespace_of_another_is_refused_and_never_removed(name: str) -> None:
    foreign = f"tare-{name}-other"
    file = Path("/run/netns", foreign)
    file.parent.mkdir(exist_ok=True)
    file.touch()
    _run("unshare", f"--net={file}", "true")
    try:
        with pytest.raises(UsageError, match=f"namespace {foreign} exists"):
            start(request_of(name))
        assert not stop(name)
        assert os.path.ismount(file)
    finally:
        _run("umount", str(file))
        file.unlink()


def test_a_cgroup_of_another_is_refused_and_never_removed(name: str) -> None:
    foreign = cgroup.layout().roots[0] / f"tare-{name}-other"
    foreign.mkdir()
    try:
        with pytest.raises(UsageError, match=f"cgroup {foreign} exists"):
            start(request_of(name))
        assert not stop(name)
        assert foreign.is_dir()
    finally:
        foreign.rmdir()


def test_a_name_that_is_taken_is_refused(name: str, started: Start) -> None:
    started(1)
    with pytest.raises(UsageError, match=f"there is a cluster {name} already"):
        start(request_of(name))
    assert status(name).is_ready
    stop(name)


def test_quotas_beyond_the_machine_are_refused_before_anything_is_made(name: str) -> None:
    cpus = len(os.sched_getaffinity(0)) / 2
    with pytest.raises(UsageError, match="the sum must stay below"):
        start(request_of(name, 1, cpus=cpus))
    assert leftovers(name) == []


def test_an_unknown_version_is_refused_before_anything_is_made(name: str) -> None:
    request = ClusterRequest("postgresql", name, 1, request_of(name).limits, version="9")
    with pytest.raises(UsageError, match="no PostgreSQL 9"):
        start(request)
    assert leftovers(name) == []


def _within(namespace: str, *words: str) -> str:
    return _run("nsenter", f"--net=/run/netns/{namespace}", *words)


def _run(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
