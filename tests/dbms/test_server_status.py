"""`tare server list` and `status`: what runs, what was stopped, and what died."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tare.cli.server import NOT_RUNNING, app
from tare.dbms import local
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql, stop
from tare.errors import ServerFailed

STARTS = {"postgresql": start_postgresql, "mariadb": start_mariadb}
CLIENTS = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE command <> 'Daemon'",
}


@pytest.fixture(params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningServer]:
    try:
        started = STARTS[request.param](tmp_path / "server")
    except ServerFailed as error:
        pytest.skip(f"no server here: {error.what}")
    with started:
        yield started


def asked(*words: str | Path, code: int = 0) -> Any:
    """The command's JSON."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


def listed(directory: Path, *words: str | Path) -> list[dict[str, Any]]:
    return [one for one in asked("list", *words) if one["directory"] == str(directory)]


def test_a_server_is_shown_as_it_runs_and_once_it_was_stopped(server: RunningServer) -> None:
    session = find(server.url).connect(server.url)
    try:
        ((connections,),) = session.prepare(CLIENTS[session.server.dbms]).execute(10).rows()
        found = asked("status", "--dir", server.directory)
    finally:
        session.close()
    assert found["state"] == "running"
    assert found["pid"] == server.pid
    assert found["url"] == server.url
    assert found["connections"] == connections >= 1
    assert found["memory_bytes"] > 5_000_000
    began = datetime.fromisoformat(found["since"])
    assert timedelta(seconds=-5) < datetime.now(UTC) - began < timedelta(minutes=5)
    (row,) = listed(server.directory)
    assert (row["state"], row["pid"], row["url"]) == ("running", server.pid, server.url)

    stop(server.directory)
    found = asked("status", "--dir", server.directory, code=NOT_RUNNING)
    assert (found["state"], found["pid"], found["last_line"]) == ("stopped", None, None)
    assert listed(server.directory) == []
    (row,) = listed(server.directory, "--dir", server.directory)
    assert row["state"] == "stopped"


def test_a_killed_server_has_died_and_its_logs_end_is_shown(server: RunningServer) -> None:
    pid = server.pid
    children = local.twins_beneath(pid)
    os.kill(pid, signal.SIGKILL)
    while any(local.is_alive(one, local.born_at(one)) for one in (pid, *children)):
        time.sleep(0.01)
    found = asked("status", "--dir", server.directory, code=NOT_RUNNING)
    assert found["state"] == "died"
    assert found["last_line"] in server.record.log.read_text()
    shown = CliRunner().invoke(app, ["status", "--dir", str(server.directory)])
    assert found["last_line"] in shown.output
    assert f"--dir {server.directory}" in shown.output


def test_a_directory_without_a_server_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["status", "--dir", str(tmp_path)])
    assert isinstance(done.exception, ServerFailed)
    assert "no server of Tare's" in done.exception.what
