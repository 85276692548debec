"""Hierarchies of cgroups in version 1, in both side by side, and in version 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.cluster.cgroup import Group, Layout, Throttling, layout, named
from tare.errors import ServerFailed, UsageError

APART = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
TOGETHER = """\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory
"""
UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


def test_version_1_wins_where_it_has_the_controllers() -> None:
    found = layout(APART, read=lambda path: "")
    assert not found.unified
    assert found.roots == [Path("/sys/fs/cgroup", name) for name in ("cpu", "cpuacct", "memory")]


def test_controllers_may_share_a_hierarchy() -> None:
    assert layout(TOGETHER).roots == [Path("/sys/fs/cgroup", name) for name in ("cpu,cpuacct", "memory")]


def test_version_2_is_taken_where_it_has_the_controllers() -> None:
    found = layout(UNIFIED, read=lambda path: "cpuset cpu io memory pids")
    assert found.unified
    assert found.roots == [Path("/sys/fs/cgroup")]


@pytest.mark.parametrize("offered", ["", "cpu io", "memory"])
def test_without_a_controller_no_cluster_can_be_made(offered: str) -> None:
    with pytest.raises(UsageError, match="cpu and memory"):
        layout(UNIFIED, read=lambda path: offered)


@pytest.fixture
def first(tmp_path: Path) -> Layout:
    mounts = {name: tmp_path / name for name in ("cpu", "memory")}
    for mount in mounts.values():
        mount.mkdir()
    return Layout(mounts, unified=False)


@pytest.fixture
def second(tmp_path: Path) -> Layout:
    (tmp_path / "cgroup.subtree_control").write_text("memory")
    return Layout({"cpu": tmp_path, "memory": tmp_path}, unified=True)


def test_limits_of_version_1(first: Layout) -> None:
    group = Group("one", first)
    group.make()
    group.set_quota(0.4)
    group.set_memory(1 << 29)
    assert _files(first.mounts["cpu"] / "one") == {
        "cpu.shares": "16384",
        "cpu.cfs_period_us": "20000",
        "cpu.cfs_quota_us": "8000",
    }
    assert _files(first.mounts["memory"] / "one") == {"memory.limit_in_bytes": "536870912"}
    assert group.quota() == 0.4
    group.set_quota(None)
    assert group.quota() is None


def test_limits_of_version_2(second: Layout, tmp_path: Path) -> None:
    group = Group("one", second)
    group.make()
    group.set_quota(0.4)
    group.set_memory(1 << 29)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu"
    assert _files(tmp_path / "one") == {
        "cpu.weight": "1600",
        "cpu.max": "8000 20000",
        "memory.max": "536870912",
    }
    assert group.quota() == 0.4
    group.set_quota(None)
    assert group.quota() is None


def test_throttling_of_both_versions(first: Layout, second: Layout) -> None:
    group = Group("one", first)
    assert group.throttling() == Throttling(0, 0)
    group.make()
    text = "nr_periods 9\nnr_throttled 4\nthrottled_time 5000\n"
    (first.mounts["cpu"] / "one" / "cpu.stat").write_text(text)
    assert group.throttling() == Throttling(4, 5000)
    other = Group("two", second)
    other.make()
    text = "usage_usec 70\nnr_periods 9\nnr_throttled 4\nthrottled_usec 5\n"
    (second.mounts["cpu"] / "two" / "cpu.stat").write_text(text)
    assert other.throttling() == Throttling(4, 5000)


def test_a_group_of_another_is_not_taken(first: Layout) -> None:
    (first.mounts["memory"] / "one").mkdir()
    with pytest.raises(ServerFailed, match="one could not be made"):
        Group("one", first).make()


def test_groups_are_found_by_the_beginning_of_their_names(first: Layout) -> None:
    Group("tare-a-1", first).make()
    Group("tare-ab-1", first).make()
    assert [path.name for path in named("tare-a-", first)] == ["tare-a-1", "tare-a-1"]


def test_processes_are_those_of_all_hierarchies(first: Layout) -> None:
    group = Group("one", first)
    assert group.processes() == []
    group.make()
    (first.mounts["cpu"] / "one" / "cgroup.procs").write_text("12\n7\n")
    (first.mounts["memory"] / "one" / "cgroup.procs").write_text("12\n0\n")
    assert group.processes() == [7, 12]


def test_a_group_is_removed_in_all_hierarchies(first: Layout) -> None:
    for mount in first.roots:
        (mount / "one").mkdir()
    group = Group("one", first)
    assert group.exists()
    group.remove()
    group.remove()
    assert not group.exists()


def _files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}
