"""What a control group or a PID namespace takes from a server is named, and never blamed on others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.measure.machine.isolation import cgroups
from tests.cli.running import tare
from tests.servers import own_server

BUSY = "SELECT sum(i::float8) FROM generate_series(1, 200000) s(i)"


@contextmanager
def quota(percent: int, pids: list[int]) -> Iterator[None]:
    """A control group with a CPU quota, which the processes are in."""
    v1, v2 = cgroups.v1_cpu(), cgroups.v2()
    mount = v1 or v2
    if mount is None:
        pytest.skip("no CPU controller is mounted here")
    group = mount / cgroups.fresh_name("test")
    try:
        group.mkdir()
        if v1:
            (group / "cpu.cfs_quota_us").write_text(str(percent * 1000))
        else:
            (group / "cpu.max").write_text(f"{percent * 1000} 100000")
        for pid in pids:
            (group / "cgroup.procs").write_text(str(pid))
    except OSError as refused:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"no control group can be made here: {refused}")
    try:
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            (mount / "cgroup.procs").write_text(pid)
        group.rmdir()


def test_time_that_a_cpu_quota_takes_is_a_part_of_its_own() -> None:
    with own_server("postgresql") as server, quota(5, [server.pid]):
        said = tare("time", BUSY, "--db", server.url, "--runs", "6", "--json", "-")
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    parts = {name: query["measures"][name]["samples"] for name in query["measures"]}
    added = ("cpu_ms", "block_io_ms", "run_queue_ms", "throttled_ms", "sleep_ms", "steal_ms", "residue_ms")
    for execution, wall in enumerate(parts["wall_ms"]):
        assert sum(parts[name][execution] or 0 for name in added) == pytest.approx(wall, abs=0.001)
    # A twentieth of a CPU: whatever neighbours leave of one, most of the wall time is spent throttled.
    assert query["measures"]["throttled_ms"]["median"] > query["measures"]["cpu_ms"]["median"]
    (warning,) = [one for one in said.result["warnings"] if one["type"] == "throttled"]
    assert "quota" in warning["next_step"]


@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
def test_the_proc_of_another_pid_namespace_is_refused(name: str, request: pytest.FixtureRequest) -> None:
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace can be made here")
    url = request.getfixturevalue(f"{name}_url")
    command = [*unshare, sys.executable, "-m", "tare", "time", "SELECT count(*) FROM numbers", "--db", url]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2])
    assert said.returncode == 1
    assert "/proc is of another PID namespace" in said.stderr
    assert "--mount-proc" in said.stderr
