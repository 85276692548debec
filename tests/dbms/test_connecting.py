"""Connections that cannot be made: in time, with a next step, without the password."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tare.dbms.registry import find
from tare.dbms.servers import start_mariadb, start_postgresql
from tare.errors import ConnectionFailed, ServerFailed, TareError, UsageError

SECRET = "s3cr3t@/:%"
IN_URL = "s3cr3t%40%2F%3A%25"


def told(error: BaseException) -> str:
    """All that a user, a log or a traceback could show."""
    return "".join(traceback.format_exception(error))


def assert_no_secret(error: BaseException) -> None:
    text = told(error)
    assert SECRET not in text
    assert IN_URL not in text
    assert "s3cr3t" not in text


@pytest.fixture(scope="module")
def guarded(free_port: int) -> Iterator[dict[str, str]]:
    """Servers with a user `guarded` who has a password; by name, the URL's part after the user."""
    urls = {}
    servers = [start_postgresql(port=free_port)]
    try:
        url = servers[0].url
        session = find(url).connect(url, allow_writes=True)
        session.run(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
        access = servers[0].record.data_directory / "pg_hba.conf"
        access.write_text("host all guarded 127.0.0.1/32 scram-sha-256\n" + access.read_text())
        session.run("SELECT pg_reload_conf()")
        session.close()
        urls["postgresql"] = url.split("@", 1)[1]
        try:
            servers.append(start_mariadb())
        except ServerFailed:
            pass
        else:
            url = servers[1].url
            session = find(url).connect(url, allow_writes=True)
            session.run(
                f"CREATE USER guarded@localhost IDENTIFIED BY '{SECRET}'; GRANT ALL ON *.* TO guarded@localhost"
            )
            session.close()
            urls["mariadb"] = url.split("@", 1)[1]
        yield urls
    finally:
        for server in servers:
            server.stop()


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_right_password_is_taken_and_never_shown(name: str, guarded: dict[str, str]) -> None:
    if name not in guarded:
        pytest.skip("no MariaDB here")
    url = f"{name}://guarded:{IN_URL}@{guarded[name]}"
    session = find(url).connect(url)
    try:
        assert list(session.prepare("SELECT 1").execute(5).rows()) == [(1,)]
        assert "s3cr3t" not in repr(session.server)
        assert "guarded@" in session.server.url
    finally:
        session.close()


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_wrong_password_is_said_and_never_shown(name: str, guarded: dict[str, str]) -> None:
    if name not in guarded:
        pytest.skip("no MariaDB here")
    url = f"{name}://guarded:wrong-{IN_URL}@{guarded[name]}"
    with pytest.raises(ConnectionFailed, match="password") as failed:
        find(url).connect(url)
    assert_no_secret(failed.value)
    assert failed.value.next_step


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
@pytest.mark.parametrize("rest", ["localhost:not-a-port/db", "localhost/db?nonsense=1"])
def test_a_url_that_cannot_be_read_is_shown_without_its_password(name: str, rest: str) -> None:
    url = f"{name}://guarded:{IN_URL}@{rest}"
    with pytest.raises(TareError) as failed:
        find(url).connect(url, timeout_s=2)
    assert_no_secret(failed.value)
    assert failed.value.next_step


def test_an_unescaped_password_is_hidden_too() -> None:
    url = f"postgresql://guarded:{SECRET}@localhost:1/db"
    with pytest.raises((UsageError, ConnectionFailed)) as failed:
        find(url).connect(url, timeout_s=2)
    assert_no_secret(failed.value)


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_port_on_which_nobody_listens(name: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"{name}://someone:{IN_URL}@127.0.0.1:{port}/db"
    with pytest.raises(ConnectionFailed, match="tare server start") as failed:
        find(url).connect(url, timeout_s=2)
    assert_no_secret(failed.value)


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_server_that_never_answers_is_given_up_in_time(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"{name}://someone:{IN_URL}@127.0.0.1:{mute.getsockname()[1]}/db"
        began = time.monotonic()
        with pytest.raises(ConnectionFailed) as failed:
            find(url).connect(url, timeout_s=2)
        assert time.monotonic() - began < 5
    assert_no_secret(failed.value)


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_an_unknown_database_is_said(name: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(f"{name}_url")
    url = url.replace("/postgres?", "/nowhere?").replace("/tare?", "/nowhere?")
    with pytest.raises(ConnectionFailed, match="nowhere"):
        find(url).connect(url)


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_missing_file_is_not_made(scheme: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    for allow_writes in (False, True):
        with pytest.raises(ConnectionFailed, match="no file"):
            find(f"{scheme}:///{missing}").connect(f"{scheme}:///{missing}", allow_writes=allow_writes)
    assert not missing.exists()


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database_is_said(scheme: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.db"
    wrong.write_text("this is not a database, only some text\n" * 200)
    with pytest.raises(ConnectionFailed, match=r"wrong\.db"):
        find(f"{scheme}:///{wrong}").connect(f"{scheme}:///{wrong}")


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_url_without_a_file_is_said(scheme: str) -> None:
    with pytest.raises(UsageError, match="names no file"):
        find(f"{scheme}://").connect(f"{scheme}://")


def test_a_relative_path_starts_at_the_working_directory(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    monkeypatch.chdir(path.parent)
    session = find("sqlite:///numbers.db").connect(f"sqlite:///{path.name}")
    assert session.data_files() == [path]
    session.close()


def test_a_duckdb_file_that_another_process_holds_is_said(tmp_path: Path) -> None:
    path = tmp_path / "held.duckdb"
    with duckdb.connect(path) as holder:  # this process; the engine's is another
        holder.execute("CREATE TABLE t (i integer)")
        with pytest.raises(ConnectionFailed, match="lock") as failed:
            find(f"duckdb:///{path}").connect(f"duckdb:///{path}")
    assert "end that process" in failed.value.next_step
