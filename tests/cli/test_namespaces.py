"""In a PID namespace that has another one's /proc, ids name other processes: Tare weighs nothing there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.measure.namespace import check_namespace

pytestmark = pytest.mark.root


def in_namespace(*options: str, url: str) -> subprocess.CompletedProcess[str]:
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("needs unshare(1) and root")
    return subprocess.run(
        [unshare, "--pid", "--fork", "--kill-child", *options, sys.executable, "-m", "tare", "time", "--db", url,
         "--runs", "2", "--warmup", "0", "--no-machine-settings", "SELECT sum(val) FROM numbers"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_processes_of_another_namespace_are_not_weighed(dbms: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    foreign = in_namespace(url=url)
    assert foreign.returncode == 2, foreign.stdout + foreign.stderr
    assert "another PID namespace" in " ".join(foreign.stderr.split())
    assert "--mount-proc" in foreign.stderr
    own = in_namespace("--mount-proc", url=url)
    assert own.returncode == 0, own.stderr


def test_a_proc_in_which_this_process_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another PID namespace"):
        check_namespace(tmp_path / "status")
