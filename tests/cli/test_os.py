"""`tare os` on real servers and embedded DBMSs, and what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.errors import PrivilegeMissing
from tare.os.levels import Level
from tare.os.nodes import Node
from tare.os.tracing import Tracing
from tests.cli.running import start, tare

QUERY = "SELECT grp, count(*), sum(id) FROM numbers GROUP BY grp"


@pytest.fixture(scope="module")
def traces() -> None:
    try:
        with Tracing([Node("self", (os.getpid(),))], Level.LIGHT):
            pass
    except PrivilegeMissing as error:
        pytest.skip(f"nothing can be traced here: {error.what}")


@pytest.fixture(params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb), "sqlite", "duckdb"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


def stage_of(result: dict[str, Any]) -> dict[str, Any]:
    (stage,) = result["stages"]
    found: dict[str, Any] = stage
    return found


@pytest.mark.usefixtures("traces")
def test_a_query_is_traced_on(url: str) -> None:
    done = tare("os", "run", QUERY, "--db", url, "--runs", "20", "--json")
    assert done.code == 0, done.err
    stage = stage_of(done.result)
    assert (stage["executions"], stage["is_whole"]) == (20, True)
    on_cpu = [role["outside"]["on_cpu"] for role in stage["roles"]]
    assert 0 < max(on_cpu) < 2 * stage["elapsed"]
    elapsed = next(check for check in done.result["checks"] if check["quantity"] == "time of threads")
    assert elapsed["agreement"] == "agrees", elapsed


@pytest.mark.usefixtures("traces")
@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_the_story_fits_the_terminal(columns: str, postgresql_url: str) -> None:
    done = tare("os", "run", QUERY, "--db", postgresql_url, "--runs", "1", COLUMNS=columns)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert all(len(line) <= int(columns) for line in lines)
    assert lines[0].startswith(("✓", "!"))
    assert "Price of the tracing" in done.out


@pytest.mark.usefixtures("traces")
def test_a_query_that_fails_is_reported_and_the_others_run(postgresql_url: str) -> None:
    words = ("os", "run", "SELECT 1/0", QUERY, "--db", postgresql_url, "--runs", "1", "--json")
    done = tare(*words)
    assert done.code == 1, done.err
    failed, traced = done.result["stages"]
    assert "division by zero" in failed["error"]
    assert (failed["executions"], traced["executions"]) == (0, 1)


@pytest.mark.usefixtures("traces")
def test_a_load_is_watched_until_ctrl_c(postgresql_url: str, tmp_path: Path) -> None:
    out = tmp_path / "os.json"
    watching = start("os", "watch", "--db", postgresql_url, "--duration", "60s", "--json", str(out))
    time.sleep(3)
    watching.send_signal(signal.SIGINT)
    shown, errors = watching.communicate(timeout=20)
    assert watching.returncode == 0, errors
    assert "ended early" in " ".join(shown.split())
    assert out.exists()


@pytest.fixture
def sleeper() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.usefixtures("traces")
def test_a_process_is_watched_by_its_id_or_its_node(sleeper: int) -> None:
    for scope in (("--pid", str(sleeper)), ("--node", f"app=pid:{sleeper}")):
        done = tare("os", "watch", *scope, "--duration", "0.5s", "--json")
        assert done.code == 0, done.err
        role = stage_of(done.result)["roles"][0]
        asleep = sum(call["spent"]["sleep"] for call in role["calls"])
        assert asleep == pytest.approx(stage_of(done.result)["elapsed"], rel=0.02), (
            "in the call it began before"
        )


def test_without_a_trace_proc_is_reported(postgresql_url: str) -> None:
    done = tare("os", "run", QUERY, "--db", postgresql_url, "--runs", "2", "--level", "proc", COLUMNS="80")
    assert done.code == 0, done.err
    assert "Where the time of threads went" in done.out
    assert "System calls" not in done.out


@pytest.mark.root
def test_a_user_who_may_not_trace_learns_what_it_takes(sleeper: int) -> None:
    words = ["os", "watch", "--pid", str(sleeper), "--duration", "0.5s"]
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-m", "tare", *words],
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, "HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    if "Permission denied" in done.stderr and "tare:" not in done.stderr:
        pytest.skip("Python's own files are closed to other users here")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "only /proc could be read" in shown
    assert "CAP_BPF and CAP_PERFMON" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["watch"], "give one of --pid, --db, --node and --cluster"),
        (["watch", "--pid", "1", "--node", "a=pid:1"], "--pid, --node given"),
        (["watch", "--pid", "999999999"], "no process 999999999"),
        (["watch", "--node", "a=pid:x"], "NAME=pid:NUMBER"),
        (["watch", "--node", "a=netns:none"], "no network namespace none"),
        (["watch", "--node", "a=cgroup:/none/of/these"], "no cgroup /none/of/these"),
        (["watch", "--node", "a=pid:1", "--node", "a=pid:1"], "two nodes have the same name"),
        (["watch", "--db", "sqlite:///x.db"], "give that program's process id"),
        (["run"], "no database is given"),
        (["run", "--db", "sqlite:///x.db"], "no query is given"),
        (["run", "SELECT 1", "--db", "sqlite:///x.db", "--roles", "none.toml"], "cannot be read"),
        (["run", "tpch", "--db", "sqlite:///x.db", "--queries", "23"], "23 is no query of TPC-H"),
        (["run", "-f", "none.sql", "--db", "sqlite:///x.db"], "none.sql cannot be read"),
    ],
)
def test_bad_input_is_refused_before_anything_is_traced(words: list[str], said: str) -> None:
    done = tare("os", *words)
    assert done.code == 2, done.out
    assert said in " ".join(done.err.split())
    assert "next:" in done.err
