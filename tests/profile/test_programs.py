"""`tare profile attach` on programs that are stripped, have forked, are watched by others, hang or die."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tare._probe import Image, ProfileRecorder
from tare.cli.profile_call import SERVER_ENDED
from tare.profile.other_tracers import breakpoints
from tests.cli.running import Running
from tests.profile.own_programs import attach, attaching, built, path_to, running, words

pytestmark = pytest.mark.usefixtures("attach_works")

FEWEST_PROBES = 3
"""Most that are set while functions are counted: at the transaction's entry and exit, and at the function's entry."""


def test_a_library_is_profiled_though_its_program_is_stripped(tmp_path: Path) -> None:
    built("engine.c", tmp_path, "-fPIC", "-shared", name="libengine.so")
    link = (f"-L{tmp_path}", "-lengine", f"-Wl,-rpath,{tmp_path}")
    with running(built("engine.c", tmp_path, "-s", "-DFRONT", *link)) as watched:
        unnamed = attach(watched.pid, tmp_path / "p", duration="9s")
        more = ("--budget", "60%", "--rounds", "3")
        named = attach(watched.pid, tmp_path / "p", *more, root="txn@libengine.so", duration="9s")
    assert unnamed.code == 2
    assert "did you mean txn@libengine.so?" in unnamed.err
    assert named.code == 0, named.err
    assert path_to(named.result, "culprit")[-2:] == ["step", "culprit"]


def test_no_unneeded_library_takes_cpu_time_from_a_measured_program(tmp_path: Path) -> None:
    with running(built("table.c", tmp_path)) as watched:
        asked = words(watched.pid, tmp_path / "p", "--budget", "60%", "--rounds", "1", "--duration", "4s")
        command = [sys.executable, "-X", "importtime", "-m", "tare", *asked]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "numpy" in loaded
    assert not loaded & {"pandas", "ibis", "pyarrow.dataset", "jinja2", "duckdb", "sqlalchemy"}


def test_another_tracer_is_noted(tmp_path: Path) -> None:
    program = built("table.c", tmp_path)
    [culprit] = Image(program).find("culprit")
    target = (7, "culprit", str(program), culprit.address, culprit.size, culprit.parts)
    with running(program) as watched:
        other = ProfileRecorder.attach(tmp_path / "other", [watched.pid], False)
        try:
            other.set([target], [(7, "site", False, False)], "timing", "probed", 1)
            said = attach(watched.pid, tmp_path / "p", "--budget", "60%", "--rounds", "1", duration="4s")
        finally:
            other.stop()
    assert said.code == 0, said.err
    [note] = [one for one in said.result["notes"] if "another tracer" in one]
    assert f"in process {watched.pid}" in note


def test_workers_that_were_forked_are_watched_unless_they_are_not_wanted(tmp_path: Path) -> None:
    with running(built("workers.c", tmp_path)) as parent:
        watched = attach(parent.pid, tmp_path / "p", "--budget", "60%", duration="4s")
        alone = attach(parent.pid, tmp_path / "p", "--no-children", duration="3s")
    assert watched.code == 0, watched.err
    assert watched.result["transactions"] > 100
    assert alone.code == 1
    assert "3 children" in alone.err
    assert "--children" in alone.err


def await_watched_windows(run: Running, pid: int, number: int) -> None:
    """Wait until so many windows with a watched function have begun. Its probes come and go with each."""

    def wait_while(condition: Callable[[], bool]) -> None:
        while condition():
            assert run.poll() is None, f"the profile ended before {number} windows: {run.communicate()}"
            time.sleep(0.01)

    for _ in range(number):
        wait_while(lambda: breakpoints(pid) > FEWEST_PROBES)
        wait_while(lambda: breakpoints(pid) <= FEWEST_PROBES)


@pytest.mark.parametrize("ends", ["hangs", "dies"])
def test_a_program_that_hangs_or_dies_under_probes_is_the_headline(ends: str, tmp_path: Path) -> None:
    """Asked to by a signal: one of its threads leaves with the lock, or aborts."""
    with running(built("fragile.c", tmp_path, "-O1")) as server:
        more = ("--functions", "within", "--duration", "14s", "--budget", "90%", "--name", ends)
        run = attaching(server.pid, tmp_path, *more, root="transaction")
        await_watched_windows(run, server.pid, 2)
        server.send_signal(signal.SIGUSR1 if ends == "hangs" else signal.SIGUSR2)
        out, err = run.communicate(timeout=60)
    assert run.returncode == SERVER_ENDED, err
    found = json.loads(out)
    assert found["rates"]["after"] == 0
    if ends == "hangs":
        assert found["failure"]["kind"] == "server hangs"
        assert found["failure"]["threads"] >= 1
        assert " hangs: " in found["headline"][0]
    else:
        assert found["failure"]["signal"] == signal.SIGABRT
        assert "signal 6, SIGABRT" in found["headline"][0]
        assert found["failure"]["thread"] is not None
        assert found["failure"]["function"] in ("transaction", ""), (
            "abort() is called by the transaction itself"
        )


def test_named_functions_are_watched_in_one_round(tmp_path: Path) -> None:
    with running(built("fragile.c", tmp_path, "-O1")) as server:
        more = ("--functions", "within", "--budget", "90%", "--rounds", "4")
        said = attach(server.pid, tmp_path, *more, root="transaction", duration="10s")
    assert said.code == 0, said.err
    assert [one["number"] for one in said.result["rounds"]] == [1]
