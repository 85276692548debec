"""The lines that a server writes before it goes away."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import ServerLost
from tare.measure import server_log
from tare.measure.server_log import ServerLog


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log, "_PATIENCE_S", 0.05)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[ServerLog, Path]]:
    """Log of a process whose standard error is a file that holds something already."""
    path = tmp_path / "server.log"
    path.write_text("FATAL: of an earlier time\n")
    with path.open("a") as file:
        waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        process = subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=file)
    try:
        yield ServerLog(process.pid), path
    finally:
        process.communicate()


def quoted(log: ServerLog) -> ServerLost:
    error = ServerLost("gone", "look")
    log.quote(error)
    return error


def test_the_grave_lines_since_then_are_quoted(log: tuple[ServerLog, Path]) -> None:
    server, path = log
    with path.open("a") as file:
        file.write("LOG: checkpoint\nPANIC:  could not write\nLOG: ended by signal 6: Aborted\nLOG: ready\n")
    error = quoted(server)
    assert error.excerpt == "  | PANIC:  could not write\n  | LOG: ended by signal 6: Aborted"
    assert str(path) in error.next_step


def test_without_a_grave_line_the_last_ones_are_quoted(log: tuple[ServerLog, Path]) -> None:
    server, path = log
    with path.open("a") as file:
        file.writelines(f"line {number}\n" for number in range(9))
    assert quoted(server).excerpt.splitlines() == [f"  | line {number}" for number in range(5, 9)]


def test_a_log_that_says_nothing_is_named(log: tuple[ServerLog, Path]) -> None:
    error = quoted(log[0])
    assert error.excerpt == ""
    assert str(log[1]) in error.next_step


def test_a_log_that_was_begun_anew_is_read_from_its_start(log: tuple[ServerLog, Path]) -> None:
    server, path = log
    path.write_text("FATAL: new\n")
    assert quoted(server).excerpt == "  | FATAL: new"


def test_a_password_is_not_quoted(log: tuple[ServerLog, Path]) -> None:
    with log[1].open("a") as file:
        file.write("FATAL: ALTER ROLE x PASSWORD 's3cr3t'\n")
    assert "s3cr3t" not in quoted(log[0]).excerpt


def test_a_server_that_writes_into_no_file_has_no_log() -> None:
    waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        error = quoted(ServerLog(process.pid))
    finally:
        process.communicate()
    assert (error.excerpt, error.next_step) == ("", "look")
