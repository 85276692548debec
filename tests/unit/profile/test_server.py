"""The process that a user means, and messages about one that cannot be profiled."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms import local
from tare.errors import ServerLost, TareError, UsageError
from tare.profile.server import Server, mapped_files, of_process, server
from tare.profile.watched import Watched, of_server


@pytest.fixture
def other() -> Iterator[subprocess.Popen[str]]:
    """A process with SQLite loaded."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sqlite3, sys; print(1, flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize(("db", "pid"), [(None, None), ("postgresql", 1)])
def test_one_server_is_to_be_named(db: str | None, pid: int | None) -> None:
    with pytest.raises(UsageError, match="name one server"):
        server(db, pid)


def test_a_name_that_is_nearly_one_is_answered_with_it() -> None:
    with pytest.raises(UsageError, match=r"did you mean postgresql\?"):
        server("postgresl", None)


def test_an_engine_without_a_server_is_to_be_named_by_its_process() -> None:
    with pytest.raises(UsageError, match=r"sqlite has no server[^\n]*\n.*--pid N --txn statement"):
        server("sqlite:///f.db", None)


def test_a_process_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="there is no process"):
        of_process(2**22 + 1)


def test_an_engine_is_found_in_the_process_that_has_loaded_it(other: subprocess.Popen[str]) -> None:
    found = of_process(other.pid)
    assert found.dbms == "sqlite"
    assert "sqlite3" in found.library
    assert not found.follow_children


def test_files_in_memory_are_programs_and_libraries_once_each() -> None:
    files = mapped_files(os.getpid())
    assert any(one.endswith("libc.so.6") for one in files)
    assert len(files) == len(set(files))
    assert mapped_files(2**22 + 1) == []


@pytest.mark.parametrize(("version", "major"), [("18.4", 18), ("15", 15), ("10.11.19-MariaDB", 10), ("", 0)])
def test_the_major_version_is_the_first_number(version: str, major: int) -> None:
    assert Server(1, None, "postgresql", version).major == major


def test_what_was_watched_is_the_same_process_or_has_ended(other: subprocess.Popen[str]) -> None:
    kept = Watched.model_validate_json(of_server(of_process(other.pid), None).model_dump_json())
    assert kept.server().pid == other.pid
    other.kill()
    other.wait()
    with pytest.raises(ServerLost, match="has ended: no round can be added"):
        kept.server()
    assert issubclass(ServerLost, TareError)


def test_who_listens_on_a_port_or_a_socket_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        path = str(tmp_path / "server.sock")
        unix.bind(path)
        unix.listen()
        assert local.listeners(tcp.getsockname()[1], None) == [os.getpid()]
        assert local.listeners(None, path) == [os.getpid()]
    assert local.listeners(None, path) == []


FORKS_A_WORKER = """
import os, signal, sys
worker = os.fork()
if worker == 0:
    signal.pause()
print(worker, flush=True)
sys.stdin.readline()
os.kill(worker, signal.SIGKILL)
os.waitpid(worker, 0)
print("ended", flush=True)
sys.stdin.read()
"""


def test_a_process_with_forked_workers_is_watched_with_them() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORKS_A_WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert local.twins_beneath(parent.pid) == [worker]
        assert server(None, parent.pid).follow_children
        assert not server(None, parent.pid, children=False).follow_children
        parent.stdin.write("\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == "ended\n"
        assert not server(None, parent.pid).follow_children
