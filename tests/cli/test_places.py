"""Places where people measure: each gives a result with parts that add up, or says what is missing there."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.running import Said, environment

SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200000) SELECT sum(x) FROM c"
TARE = (sys.executable, "-m", "tare")
NO_PRIVILEGES = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    return path


def run(before: Sequence[str], *words: str, **more: str | None) -> Said:
    """`more`: variables of the environment; None: without it."""
    if before and (os.geteuid() != 0 or shutil.which(before[0]) is None):
        pytest.skip(f"needs root and {before[0]}")
    variables = {**environment(), **{name: value for name, value in more.items() if value is not None}}
    for name in (name for name, value in more.items() if value is None):
        variables.pop(name, None)
    done = subprocess.run(
        [*before, *TARE, *words], env=variables, capture_output=True, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


PLACES = {
    "without privileges": NO_PRIVILEGES,
    "in its own namespace of processes": ("unshare", "--pid", "--fork", "--mount-proc"),
    "in its own namespace of processes, without privileges": (
        *("unshare", "--pid", "--fork", "--mount-proc"),
        *NO_PRIVILEGES,
    ),
    "without a network": ("unshare", "--net"),
    "on one CPU": ("taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))),
    "as here": (),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_query_is_weighed(place: str, file: Path) -> None:
    said = run(PLACES[place], "time", SQL, "--db", f"sqlite:///{file}", "--runs", "4", "--json", "-")
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert query["outcome"] == "ok"
    cpu, wall = (query["measures"][name]["median"] for name in ("cpu_ms", "wall_ms"))
    assert 0 < cpu <= wall * 1.02


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_a_home_is_not_needed(home: str | None, file: Path) -> None:
    said = run((), "time", SQL, "--db", f"sqlite:///{file}", "--runs", "4", HOME=home, XDG_STATE_HOME=None)
    assert said.code == 0, said.err
    assert "CPU" in said.out


def test_with_another_proc_the_reason_is_said(file: Path) -> None:
    said = run(("unshare", "--pid", "--fork"), "time", SQL, "--db", f"sqlite:///{file}")
    assert said.code == 1
    assert "/proc is of another PID namespace" in said.err
    assert "--mount-proc" in said.err


def test_a_folder_that_may_only_be_read_is_no_hindrance_until_something_is_written(file: Path) -> None:
    script = 'mount -t tmpfs -o ro tmpfs /mnt && cd /mnt && exec "$@"'
    before = ("unshare", "--mount", "bash", "-c", script, "bash")
    said = run(before, "time", SQL, "--db", f"sqlite:///{file}", "--runs", "4")
    assert said.code == 0, said.err
    unwritten = run(before, "time", SQL, "--db", f"sqlite:///{file}", "--runs", "4", "--html", "r.html")
    assert unwritten.code != 0
    assert "r.html" in unwritten.err
