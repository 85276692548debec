"""Executor, DBMS and PostgreSQL lab, each killed at random points: no QE is lost and none is doubled."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer, restart, start_postgresql
from tare.errors import ServerFailed
from tests.crash.experiment_killer import Crashes, Life, specification

SEED = int(os.environ.get("TARE_CRASH_SEED", "20161118"))
EXECUTOR_KILLS, DBMS_KILLS, LAB_KILLS = (
    (24, 13, 13) if os.environ.get("TARE_CRASH_LONG") == "1" else (8, 5, 5)
)


@pytest.fixture
def draw() -> random.Random:
    print(f"TARE_CRASH_SEED={SEED}")  # shown when the test fails
    return random.Random(SEED)


@contextmanager
def over(crashes: Crashes) -> Iterator[Crashes]:
    try:
        yield crashes
    except BaseException:
        print("\n".join(crashes.said()))
        raise
    finally:
        crashes.end()


def test_a_killed_executor_loses_and_doubles_no_qe(tmp_path: Path, draw: random.Random) -> None:
    toml = specification('start = "sqlite"')
    with over(Crashes(tmp_path, str(tmp_path / "lab.db"), toml)) as crashes:
        kills = 0
        while kills < EXECUTOR_KILLS:
            life = crashes.go_on()
            if draw.random() < 0.25:
                time.sleep(draw.uniform(0.0, 1.5))  # also while it starts, or makes tables
            else:
                life.wait_for_qes(draw.randint(1, 25))
                time.sleep(draw.uniform(0.0, 0.05))
            kills += life.kill()
        crashes.finish()
        assert crashes.account() > EXECUTOR_KILLS


def test_a_killed_dbms_loses_and_doubles_no_qe(tmp_path: Path, draw: random.Random) -> None:
    with start_postgresql(tmp_path / "server") as server:
        toml = specification(f'url = "{server.url}"')
        with over(Crashes(tmp_path, str(tmp_path / "lab.db"), toml)) as crashes:
            _kill_beside(crashes, server, DBMS_KILLS, draw)
            assert crashes.account() > DBMS_KILLS


def test_a_killed_postgresql_lab_loses_and_doubles_no_qe(tmp_path: Path, draw: random.Random) -> None:
    toml = specification('start = "sqlite"')
    with (
        start_postgresql(tmp_path / "server") as server,
        over(Crashes(tmp_path, server.url, toml)) as crashes,
    ):
        _kill_beside(crashes, server, LAB_KILLS, draw)
        assert crashes.account() > LAB_KILLS


def _kill_beside(crashes: Crashes, server: RunningServer, wanted: int, draw: random.Random) -> None:
    """Kills the server again and again while an executor works; that one waits for it and goes on."""
    kills = 0
    life: Life | None = None
    while kills < wanted:
        if life is None or life.process.poll() is not None:
            assert life is None or life.process.returncode == 0, life.events()[-5:]
            life = crashes.begin()
            if not life.wait_for_work():
                continue
        if not life.wait_for_qes(len(life.acknowledged()) + draw.randint(0, 15)):
            continue
        time.sleep(draw.uniform(0.0, 0.05))
        killed = _kill_server(server, draw)
        kills += 1
        time.sleep(draw.uniform(0.0, 0.3))
        _bring_back(server, killed)
    assert life is not None
    assert life.ended() == 0, life.events()[-5:]
    waits = [event["what"] for life in crashes.lives for event in life.events() if event["event"] == "doing"]
    assert (
        sum("; try 2 in" in what for what in waits) > wanted / 2
    )  # the others came while it needed no server


def _kill_server(server: RunningServer, draw: random.Random) -> int:
    """Kill its postmaster, as when the power goes: the others find it gone, or are killed with it. Returns its id."""
    postmaster = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    os.kill(postmaster, signal.SIGKILL)
    if draw.random() < 0.5:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
    return postmaster


def _bring_back(server: RunningServer, killed: int) -> None:
    deadline = time.monotonic() + 30
    # A process that was killed has its id until it is reaped, and PostgreSQL takes it for a server that runs.
    while Path(f"/proc/{killed}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    while True:
        try:
            restart(server.record)
            return
        except ServerFailed:  # its last processes still hold the shared memory
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1500k", "tare-test", disk],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True, timeout=60)


@pytest.mark.root
def test_a_full_disk_pauses_the_run_and_nothing_is_torn(tmp_path: Path, tiny_disk: Path) -> None:
    toml = specification('start = "sqlite"')
    ballast = tiny_disk / "ballast"
    with over(Crashes(tmp_path, str(tiny_disk / "lab.db"), toml)) as crashes:
        life = crashes.begin()
        assert life.wait_for_qes(5)
        with suppress(OSError), ballast.open("wb") as out:
            while True:
                out.write(bytes(1024))
                out.flush()
        assert life.ended() == 1
        assert "full" in "".join(crashes.said())
        kept = len(life.acknowledged())
        ballast.unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", tiny_disk], check=True, timeout=60)
        crashes.finish()
        assert crashes.account() > kept >= 5
