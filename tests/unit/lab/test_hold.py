"""A run has one executor, until that lets go or dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tare.dbms.servers import restart, start_postgresql
from tare.errors import LabLost, NoSuchRun, RunHeld
from tare.lab.hold import held, is_held
from tare.lab.progress import progress
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import begun


@contextmanager
def another_executor(where: str, run_id: int) -> Iterator[subprocess.Popen[str]]:
    holder = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.lab.holder", where, str(run_id)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
    finally:
        holder.kill()
        holder.wait()


def test_the_second_of_two_executors_is_refused(where: str, lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    with another_executor(where, run_id) as holder:
        with pytest.raises(RunHeld, match=f"pid {holder.pid}") as refusal, held(lab, run_id):
            pass
        assert socket.gethostname() in refusal.value.what
        assert refusal.value.exit_code == 2


def test_two_in_one_process_refuse_each_other_too(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    with held(lab, run_id), pytest.raises(RunHeld), held(lab, run_id):
        pass


def test_another_run_of_the_same_lab_is_free(lab: Lab) -> None:
    first, second = begun(lab)[1], begun(lab)[1]
    with held(lab, first), held(lab, second):
        assert is_held(lab, first)
        assert is_held(lab, second)
    assert not is_held(lab, first)


def test_a_killed_executor_holds_nothing(where: str, lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    with another_executor(where, run_id) as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        taken_within(lab, run_id, seconds=10)


def taken_within(lab: Lab, run_id: int, seconds: float) -> None:
    """A server may take a moment to notice that its client is dead."""
    until = time.monotonic() + seconds
    while True:
        try:
            with held(lab, run_id):
                return
        except RunHeld:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_who_holds_a_run_can_be_read(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    assert not is_held(lab, run_id)
    with held(lab, run_id):
        assert is_held(lab, run_id)
        assert f"pid {os.getpid()}" in str(progress(lab, run_id).run.executor)
    assert not is_held(lab, run_id)
    assert progress(lab, run_id).run.executor is None


def test_looking_does_not_let_go(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    with held(lab, run_id):
        for _ in range(3):
            assert is_held(lab, run_id)
        with pytest.raises(RunHeld), held(lab, run_id):
            pass


def test_a_run_that_is_not_there_cannot_be_held(lab: Lab) -> None:
    with pytest.raises(NoSuchRun), held(lab, 99):
        pass


def test_no_file_is_left_beside_a_lab(sqlite_lab: Lab, tmp_path: Path) -> None:
    _, run_id, _ = begun(sqlite_lab)
    with held(sqlite_lab, run_id) as hold:
        hold.keep()
        assert (tmp_path / "lab.db-held").exists()
    assert not (tmp_path / "lab.db-held").exists()


def test_a_child_process_does_not_keep_its_dead_parents_hold(sqlite_lab: Lab) -> None:
    _, run_id, _ = begun(sqlite_lab)
    with held(sqlite_lab, run_id):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with held(sqlite_lab, run_id):
            pass
    finally:
        child.kill()
        child.wait()


def test_two_labs_in_one_database_do_not_meet(postgresql_lab: str) -> None:
    with psycopg.connect(postgresql_lab, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA a")
        connection.execute("CREATE SCHEMA b")
    with (
        open_lab(f"{postgresql_lab}&options=-csearch_path%3Da", create=True) as a,
        open_lab(f"{postgresql_lab}&options=-csearch_path%3Db", create=True) as b,
    ):
        assert begun(a)[1] == begun(b)[1] == 1
        with held(a, 1), held(b, 1):
            pass


def test_a_hold_lost_with_the_server_is_taken_again(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    with start_postgresql(folder) as server, open_lab(server.url, create=True) as lab:
        _, run_id, _ = begun(lab)
        with held(lab, run_id) as hold:
            restart(server.record)
            assert not is_held(lab, run_id)
            hold.keep()
            assert is_held(lab, run_id)


def test_a_hold_that_another_took_meanwhile_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    with start_postgresql(folder) as server, open_lab(server.url, create=True) as lab:
        _, run_id, _ = begun(lab)
        with held(lab, run_id) as hold:
            restart(server.record)
            with another_executor(server.url, run_id), pytest.raises(RunHeld):
                hold.keep()


def test_a_hold_on_a_server_that_is_away_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    server = start_postgresql(folder)
    with open_lab(server.url, create=True) as lab:
        _, run_id, _ = begun(lab)
        with held(lab, run_id) as hold:
            server.stop()
            with pytest.raises(LabLost):
                hold.keep()
