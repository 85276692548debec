"""The throttled time of the control groups that a process is in, in both versions of cgroups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.measure.choices import CacheState
from tare.measure.machine.isolation import cgroups
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.quota import quota_of
from tare.measure.rig import Rig


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hierarchy of version 2 in which every process is in /pod/db."""
    (tmp_path / "pod" / "db").mkdir(parents=True)
    monkeypatch.setattr(cgroups, "v1_cpu", lambda: None)
    monkeypatch.setattr(cgroups, "v2", lambda: tmp_path)
    monkeypatch.setattr(cgroups, "of", lambda pid, controller: "/pod/db")
    return tmp_path


def limit(group: Path, quota: str, throttled_us: int | None) -> None:
    (group / "cpu.max").write_text(f"{quota} 100000\n")
    if throttled_us is not None:
        (group / "cpu.stat").write_text(f"usage_usec 5\nnr_throttled 1\nthrottled_usec {throttled_us}\n")


def test_a_group_without_a_quota_is_never_throttled(tree: Path) -> None:
    limit(tree / "pod" / "db", "max", 7)
    assert quota_of(1).groups == ()
    assert quota_of(1).throttled_ns() == 0


def test_the_quota_of_a_group_above_counts(tree: Path) -> None:
    limit(tree / "pod" / "db", "max", 7)
    limit(tree / "pod", "50000", 11)
    assert quota_of(1).throttled_ns() == 11_000


def test_quotas_of_several_levels_add_up(tree: Path) -> None:
    limit(tree / "pod" / "db", "20000", 5)
    limit(tree / "pod", "50000", 11)
    assert quota_of(1).throttled_ns() == 16_000


def test_a_quota_whose_throttling_is_not_shown_is_unknown(tree: Path) -> None:
    limit(tree / "pod" / "db", "20000", None)
    assert quota_of(1).throttled_ns() is None


@pytest.fixture
def narrow() -> Iterator[Path]:
    """A group of version 1 with a tenth of a CPU."""
    mount = cgroups.v1_cpu()
    if mount is None or not os.access(mount, os.W_OK):
        pytest.skip("no cpu hierarchy of cgroup v1 in which this user may make a group")
    group = mount / cgroups.fresh_name("narrow")
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text("10000")
        yield group
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            (mount / "cgroup.procs").write_text(pid)
        group.rmdir()


def test_a_backend_with_a_tenth_of_a_cpu_waits_for_its_quota(narrow: Path, postgresql_url: str) -> None:
    query = Query("q", "SELECT sum(length(md5(repeat(txt, 300)))) FROM numbers")
    with Rig(lambda: find(postgresql_url).connect(postgresql_url)) as rig:
        (narrow / "cgroup.procs").write_text(str(rig.leader.pid))
        qe = time_single_qe(
            rig, query, index=0, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None
        )
    assert qe.elapsed is not None
    assert qe.elapsed.cpu_ns is not None
    assert qe.elapsed.cpu_ns > 20_000_000, "the query is too small for this test"
    assert qe.elapsed.throttled_ns
    assert qe.elapsed.run_queue_ns is not None
    assert qe.elapsed.run_queue_ns >= 0
