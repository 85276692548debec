"""`tare profile run` with the agent: an unmodified server started with our library in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from benchmarks.survivors.programs import NotBuilt, build

from tare.dbms.servers import ServerRecord, start_postgresql
from tare.errors import ServerFailed
from tare.profile.backends import tried
from tests.cli.running import start, tare
from tests.profile.servers import after_a_round, fill, load

pytestmark = pytest.mark.usefixtures("agent_works")


@pytest.fixture(scope="module")
def agent_works() -> None:
    one = next(one for one in tried() if one.name == "agent")
    if not one.works:
        pytest.skip(f"the agent does not work here: {one.says}")


@pytest.fixture
def stopped(tmp_path: Path) -> ServerRecord:
    """A server's data, of which none runs."""
    return data_of("18", tmp_path)


def data_of(version: str, tmp_path: Path) -> ServerRecord:
    try:
        with start_postgresql(tmp_path / "server", version=version) as server:
            fill(server.url)
            return server.record
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL {version} here: {error.what}")


BRIEF = ("--duration", "5s", "--no-auto")

BUDGET = "20%"
"""Enough for known waits on a host of any speed: where a commit takes 0.1 ms, 5% is for a dozen calls."""


def command(of: ServerRecord, out: Path, *more: str) -> list[str]:
    user = ["--user", "postgres"] if os.geteuid() == 0 else []
    program = [str(of.binaries / "postgres"), "-D", str(of.data_directory)]
    return ["profile", "run", "--profiles", str(out), *user, *more, "--", *program]


def wait_for(url: str) -> None:
    for _ in range(300):
        with suppress(psycopg.Error):
            psycopg.connect(url).close()
            return
        time.sleep(0.1)
    pytest.fail(f"{url} did not come up")


def runs(of: ServerRecord) -> bool:
    return (of.data_directory / "postmaster.pid").exists()


@pytest.mark.parametrize("version", ["18", "15"])
def test_an_unmodified_postgresql_is_taken_apart_from_within(version: str, tmp_path: Path) -> None:
    stopped = data_of(version, tmp_path)
    how = ("--duration", "10s", "--rounds", "2", "--budget", BUDGET, "--json", "-")
    run = start(*command(stopped, tmp_path / "p", *how))
    wait_for(stopped.url)
    with load(stopped.url):
        out, err = run.communicate(timeout=150)
    assert run.returncode == 0, err
    found = json.loads(out)
    assert found["transactions"] > 200
    assert abs(found["equation"]["own_sum"] - 1) < 1e-9
    assert {"XLogFlush", "LWLockAcquireOrWait"} <= {node["name"] for node in found["nodes"]}
    assert all(one["predicted"] <= 0.2 + 1e-9 for one in found["rounds"])
    assert not runs(stopped), "what it started has ended with it"


def test_a_load_is_run_beside_and_ends_with_it(stopped: ServerRecord, tmp_path: Path) -> None:
    pid = tmp_path / "load.pid"
    psql = f"PGPASSWORD=Xq7Za psql -q '{stopped.url}' -c 'SELECT 1'"
    psql = f"echo $$ > {pid}; while true; do {psql} || exit 1; done"
    if subprocess.run(["which", "psql"], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip("psql is not installed")
    said = tare(
        *command(stopped, tmp_path / "p", *BRIEF, "--load", psql, "--json", "-"),
        timeout=150,
    )
    assert said.code == 0, said.err
    assert said.result["transactions"] > 0
    kept = [path.read_text() for path in (tmp_path / "p").rglob("*.json")]
    assert not any("Xq7Za" in text for text in (said.out, said.err, *kept))
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


def test_ctrl_c_ends_the_profile_then_the_server(stopped: ServerRecord, tmp_path: Path) -> None:
    run = start(*command(stopped, tmp_path / "p", "--name", "cut", "--duration", "12s"))
    wait_for(stopped.url)
    with load(stopped.url):
        after_a_round(tmp_path / "p" / "cut")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=90)
    assert run.returncode == 130, err
    assert "variance" in out
    assert not runs(stopped)


def test_a_server_that_is_kept_can_be_refined(stopped: ServerRecord, tmp_path: Path) -> None:
    out = tmp_path / "p"
    said_to = tmp_path / "said"
    with said_to.open("wb") as stream:  # no pipe: the server goes on writing to it
        run = subprocess.Popen(
            [sys.executable, "-m", "tare", *command(stopped, out, "--name", "kept", "--keep", *BRIEF)],
            stdout=stream,
            stderr=stream,
        )
    wait_for(stopped.url)
    try:
        with load(stopped.url):
            assert run.wait(timeout=120) == 0, said_to.read_text()
            assert runs(stopped)
            beside = tare("profile", "attach", "--db", stopped.url, "--profiles", str(out))
            assert beside.code == 2
            assert "with Tare's agent in it" in beside.err
            said = tare(
                "profile",
                "refine",
                "kept",
                "XLogFlush",
                "--profiles",
                str(out),
                "--duration",
                "5s",
                "--json",
                "-",
            )
        assert said.code == 0, said.err
        assert any("XLogWrite" in node["name"] for node in said.result["nodes"])
    finally:
        os.kill(int((stopped.data_directory / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
        while runs(stopped):
            time.sleep(0.1)
    ended = tare("profile", "refine", "kept", "--profiles", str(out))
    assert ended.code == 1
    assert "has ended: no round can be added" in ended.err


def test_a_server_that_will_not_run_says_why(stopped: ServerRecord, tmp_path: Path) -> None:
    words = command(stopped, tmp_path / "p")
    said = tare(*words[:-1], str(tmp_path / "no-such-directory"))
    assert said.code == 1
    assert "ended with exit code" in said.err
    assert not list((tmp_path / "p").glob("*"))


def run_of(source: str, tmp_path: Path, words: tuple[str, ...], program_words: tuple[str, ...]) -> Any:
    """The report of a program of `benchmarks/survivors` that runs with the agent in it."""
    try:
        program = build(source)
    except NotBuilt as missing:
        pytest.skip(str(missing))
    options = ("--txn", "function:transaction", "--duration", "4s", "--budget", "90%", "--json", "-")
    command = ("profile", "run", "--profiles", str(tmp_path / "p"), *options, *words, "--", str(program))
    said = tare(*command, "0", *program_words, timeout=60)
    assert said.code == 0, said.err
    return said.result


def test_a_signals_handler_discards_no_transaction_and_is_a_child_of_what_it_interrupts(
    tmp_path: Path,
) -> None:
    watched = ("--functions", "parse,execute,step,account")
    report = run_of("signals.c", tmp_path, watched, ("-", "execute"))
    assert report["transactions"] > 1000
    assert set(report["invalid"]) <= {"unfinished", "changed"}, "our own windows cut these"
    assert report["lost"] == 0
    names = {node["path"]: node["name"] for node in report["nodes"]}
    interrupted = {names[node["parent"]] for node in report["nodes"] if node["name"] == "account"}
    assert "execute" in interrupted


@pytest.mark.parametrize("variant", ["exit", "cancel"])
def test_a_transaction_that_its_thread_s_end_leaves_is_whole_and_its_calls_are_counted(
    variant: str, tmp_path: Path
) -> None:
    watched = ("--functions", "parse,execute,commit,append")
    report = run_of("threads_end.cpp", tmp_path, watched, (variant, "commit"))
    assert report["transactions"] > 500
    # One transaction of 50 leaves four functions and its root.
    assert report["unwound"] >= 5 * report["transactions"] / 50 * 0.5
    left_out = sum(report["invalid"].values())
    assert left_out <= 0.01 * report["transactions"] + 3 * 20, report["invalid"]
    assert "unwound" not in report["invalid"]
