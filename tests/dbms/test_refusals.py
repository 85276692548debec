"""Servers that refuse a connection, or are not what they seem: weighed right, or refused with the true cause."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tare.dbms.postgresql import pooling, refusals
from tare.dbms.postgresql import wire as postgresql_wire
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, binaries, start_mariadb, start_postgresql
from tare.errors import ConnectionFailed, ServerFailed
from tests import servers
from tests.dbms import postgresql_tls
from tests.servers import certificate, pgbouncer


def refusal(url: str) -> ConnectionFailed:
    with pytest.raises(ConnectionFailed) as refused:
        find(url).connect(url, timeout_s=5).close()
    return refused.value


def is_weighed(url: str) -> bool:
    """Whether a statement is run, and its planning split from its execution where the connection is plain."""
    session = find(url).connect(url)
    try:
        return (
            session.prepare("SELECT 1").plan_and_execute(10).row_count == 1 and session.leader() is not None
        )
    finally:
        session.close()


# PostgreSQL -----------------------------------------------------------------------------------
ROLES = (
    "CREATE ROLE known LOGIN PASSWORD 'right'",
    "CREATE ROLE lonely LOGIN CONNECTION LIMIT 1",
    "CREATE ROLE shut LOGIN CONNECTION LIMIT 0",
    "CREATE DATABASE closed",
    "REVOKE CONNECT ON DATABASE closed FROM PUBLIC",
)


@pytest.fixture(scope="module")
def tls_only_15(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PostgreSQL 15 that admits over TLS only; its URL from the host on."""
    with guarded("15", "hostssl", tmp_path_factory.mktemp("tls")) as place:
        yield place


@pytest.fixture(scope="module")
def tls_only_18(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PostgreSQL 18 that admits over TLS only; its URL from the host on."""
    try:
        programs = postgresql_tls.programs()
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL 18 with TLS here: {error.what}")
    with pytest.MonkeyPatch.context() as patched, ExitStack() as running:
        patched.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        patched.setattr(binaries, "_from_wheel", list)  # it is built without TLS, and would be preferred
        place = running.enter_context(guarded("18", "hostssl", tmp_path_factory.mktemp("tls")))
        patched.undo()
        yield place


@pytest.fixture(params=["15", "18"])
def tls_only(request: pytest.FixtureRequest) -> str:
    """Each of the two; its URL from the host on."""
    place: str = request.getfixturevalue(f"tls_only_{request.param}")
    return place


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    """PostgreSQL 18 with the same roles; its URL from the host on."""
    with guarded("18", "host", None) as place:
        yield place


@contextmanager
def guarded(version: str, line: str, tls: Path | None) -> Iterator[str]:
    port = servers.free_port()
    try:
        server = start_postgresql(version=version, port=port)
    except ServerFailed as error:
        pytest.skip(f"no PostgreSQL {version} here: {error.what}")
    with server:
        data = server.record.data_directory
        with psycopg.connect(server.url, autocommit=True) as connection:
            for sql in ROLES:
                connection.execute(sql)
            if tls is not None:
                for file in certificate(tls):
                    give(server, file, data / file.name)
                connection.execute("ALTER SYSTEM SET ssl = on")
            (data / "pg_hba.conf").write_text(
                f"local all all trust\n{line} all known 127.0.0.1/32 scram-sha-256\n"
                f"{line} all postgres,lonely,shut,nobody 127.0.0.1/32 trust\n"
            )
            connection.execute("SELECT pg_reload_conf()")
        wait_until(f"postgresql://shut@127.0.0.1:{port}/postgres", "53300")
        yield f"127.0.0.1:{port}/postgres"


def give(server: RunningServer, file: Path, copy: Path) -> None:
    """A copy that belongs to the server's user, as a key must."""
    owner = server.record.data_directory.stat()
    copy.write_bytes(file.read_bytes())
    copy.chmod(0o600)
    os.chown(copy, owner.st_uid, owner.st_gid)


def wait_until(url: str, code: str) -> None:
    """Until the server refuses with this code: it has read its configuration again."""
    until = time.monotonic() + 20
    while refusals.attempt({**conninfo_to_dict(url), "connect_timeout": 5}).code != code:
        assert time.monotonic() < until, f"not refused with {code}"
        time.sleep(0.02)


class Refused(NamedTuple):
    url: str  # before and after the place of the server
    code: str
    remedy: str


REFUSED = [
    Refused("postgresql://known:wrong@{}", "28P01", "password"),
    Refused("postgresql://known@{}", "", "PGPASSWORD"),
    Refused("postgresql://nobody@{}", "28000", "pg_hba.conf"),
    Refused("postgresql://stranger@{}", "28000", "pg_hba.conf"),
    Refused("postgresql://postgres@{}x", "3D000", "psql -l"),
    Refused("postgresql://lonely@{}", "53300", "CONNECTION LIMIT"),
    Refused("postgresql://shut@{}", "53300", "CONNECTION LIMIT"),
]


@pytest.mark.parametrize("server", ["tls_only_15", "tls_only_18", "plain"])
@pytest.mark.parametrize("refused", REFUSED, ids=lambda one: one.url)
def test_postgresqls_refusals_name_the_remedy(
    server: str, refused: Refused, request: pytest.FixtureRequest
) -> None:
    error = refusal(refused.url.format(request.getfixturevalue(server)))
    assert error.code == refused.code, error
    assert refused.remedy in error.next_step, error.next_step


def test_a_database_that_is_closed_to_a_role_is_granted(plain: str) -> None:
    error = refusal(f"postgresql://known:right@{plain.replace('/postgres', '/closed')}")
    assert (error.code, "GRANT CONNECT" in error.next_step) == ("42501", True)


def test_a_role_with_too_few_connections_is_told_how_many_are_needed(plain: str) -> None:
    assert "two connections; max_connections is" in refusal(f"postgresql://lonely@{plain}").what


def test_a_server_that_admits_over_tls_only_names_the_parameter(tls_only: str) -> None:
    error = refusal(f"postgresql://postgres@{tls_only}?sslmode=disable")
    assert (error.code, "?sslmode=require" in error.next_step) == ("28000", True)
    assert is_weighed(f"postgresql://postgres@{tls_only}")
    assert is_weighed(f"postgresql://known:right@{tls_only}?sslmode=require")


def test_planning_is_inside_execution_over_an_encrypted_connection(tls_only: str) -> None:
    url = f"postgresql://postgres@{tls_only}?sslmode=require"
    session = find(url).connect(url)
    try:
        prepared = session.prepare("SELECT count(*) FROM pg_class")
        assert prepared.plan_and_execute(60).planned is None
        assert "encrypted" in prepared.planning_inside
    finally:
        session.close()


def test_a_server_without_tls_is_told_from_one_that_is_not_there(postgresql_tcp_url: str) -> None:
    url = postgresql_tcp_url.replace("://", "://postgres@", 1)
    assert "sslmode" in refusal(f"{url}?sslmode=require").next_step
    assert "tare server start" in refusal(f"postgresql://127.0.0.1:{servers.free_port()}/x").next_step


# A pooler ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def pooled(postgresql_tcp_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """URLs of poolers in front of one server, by their mode."""
    folder = tmp_path_factory.mktemp("pgbouncer")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    port = int(postgresql_tcp_url.rpartition(":")[2].partition("/")[0])
    with pgbouncer(folder, port, "session") as one, pgbouncer(folder, port, "transaction") as two:
        yield {"session": one, "transaction": two}


def test_a_pool_of_sessions_is_weighed(pooled: dict[str, str]) -> None:
    assert is_weighed(pooled["session"])


def test_a_pool_of_transactions_is_refused_before_anything_is_set(pooled: dict[str, str]) -> None:
    error = refusal(pooled["transaction"])
    assert "pools transactions" in error.what
    assert "pool_mode = session" in error.next_step
    with psycopg.connect(pooled["transaction"], autocommit=True) as connection:
        for name, usual in (
            ("default_transaction_read_only", "off"),
            ("client_connection_check_interval", "0"),
        ):
            assert connection.execute(f"SHOW {name}").fetchone() == (usual,)


def test_a_pool_without_a_second_session_is_named(
    pooled: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool is full as soon as its one session is taken: the second connection waits for it."""
    monkeypatch.setattr(postgresql_wire, "OWN_S", 0.3)
    with psycopg.connect(pooled["session"], autocommit=True) as first:
        first.execute("SELECT 1")

        class Silent(postgresql_wire.Wire):
            def backend_pid(self) -> int:
                raise postgresql_wire.not_answered()

        wire = postgresql_wire.Wire(first, None)
        with pytest.raises(ConnectionFailed) as refused:
            pooling.check_pooling(wire, lambda: Silent(psycopg.connect(pooled["session"]), None))
    assert "pool_size" in refused.value.next_step


# MariaDB ------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def mariadb_guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with TLS, and users of every kind; the part of its URL after the user."""
    pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    folder = tmp_path_factory.mktemp("tls")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    crt, key = certificate(folder)
    key.chmod(0o644)
    try:
        server = start_mariadb(port=servers.free_port(), settings={"ssl-cert": str(crt), "ssl-key": str(key)})
    except ServerFailed as error:
        pytest.skip(f"no MariaDB here: {error.what}")
    with server:
        root = find(server.url).connect(server.url, allow_writes=True)
        root.run(
            "INSTALL SONAME 'auth_ed25519'; "
            "CREATE USER tls@'127.0.0.1' IDENTIFIED BY 'right' REQUIRE SSL; GRANT ALL ON tare.* TO tls@'127.0.0.1'; "
            "CREATE USER curve@'127.0.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('right'); "
            "GRANT ALL ON tare.* TO curve@'127.0.0.1'; CREATE USER few@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1; "
            "GRANT ALL ON tare.* TO few@'127.0.0.1'; CREATE USER poor@'127.0.0.1'"
        )
        root.close()
        yield server.url.split("@", 1)[1]


MARIADB_REFUSED = [
    Refused("mariadb://tls:right@{}", "1045", "?ssl=true"),
    Refused("mariadb://tls:wrong@{}", "1045", "password"),
    Refused("mariadb://curve:wrong@{}", "1045", "password"),
    Refused("mariadb://poor@{}", "1044", "right"),
    Refused("mariadb://root@{}x", "1049", "SHOW DATABASES"),
    Refused("mariadb://root@{}?ssl=true&ssl_ca=/nowhere&ssl_verify_cert=true", "2026", "ssl_ca"),
]


@pytest.mark.mariadb
@pytest.mark.parametrize("refused", MARIADB_REFUSED, ids=lambda one: one.url)
def test_mariadbs_refusals_name_the_remedy(mariadb_guarded: str, refused: Refused) -> None:
    error = refusal(refused.url.format(mariadb_guarded))
    assert error.code == refused.code, error
    assert refused.remedy in error.next_step, error.next_step


@pytest.mark.mariadb
def test_tls_that_is_requested_is_never_left_out(mariadb_url: str) -> None:
    """This server has no certificate."""
    assert is_weighed(mariadb_url)
    error = refusal(f"{mariadb_url}&ssl=true")
    assert (error.code, "?ssl=true" in error.next_step) == ("2026", True)


@pytest.mark.mariadb
def test_users_of_tls_and_of_ed25519_are_weighed(mariadb_guarded: str) -> None:
    assert is_weighed(f"mariadb://tls:right@{mariadb_guarded}?ssl=true")
    assert is_weighed(f"mariadb://curve:right@{mariadb_guarded}")


@pytest.mark.mariadb
def test_a_client_without_the_users_plugin_names_the_parameter(mariadb_guarded: str) -> None:
    """In a process of its own: the client library loads a plugin once."""
    url = f"mariadb://curve:right@{mariadb_guarded}?plugin_dir=/nowhere"
    command = [sys.executable, "-m", "tare", "time", "SELECT 1", "--db", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "?plugin_dir=/FOLDER" in done.stderr) == (1, True), done.stderr


@pytest.mark.mariadb
def test_a_server_without_room_says_how_many_connections_there_may_be(mariadb_guarded: str) -> None:
    root = f"mariadb://root@{mariadb_guarded}"
    with_rights = find(root).connect(root, allow_writes=True)
    try:
        with_rights.run("SET GLOBAL max_connections = 10")
        url = f"mariadb://curve:right@{mariadb_guarded}"
        with ExitStack() as sessions:
            for _ in range(8):
                sessions.callback(find(url).connect(url).close)
            sessions.callback(find(root).connect(root).close)
            error = refusal(url)
        assert (error.code, "max_connections" in error.next_step) == ("1040", True)
    finally:
        with_rights.run("SET GLOBAL max_connections = 151")
        with_rights.close()


@pytest.mark.mariadb
def test_a_server_that_takes_tls_only_names_the_parameter(mariadb_guarded: str) -> None:
    root = f"mariadb://root@{mariadb_guarded}"
    with_rights = find(root).connect(root, allow_writes=True)
    try:
        with_rights.run("SET GLOBAL require_secure_transport = ON")
        assert "?ssl=true" in refusal(f"mariadb://curve:right@{mariadb_guarded}").next_step
        assert is_weighed(f"mariadb://curve:right@{mariadb_guarded}?ssl=true")
    finally:
        with_rights.run("SET GLOBAL require_secure_transport = OFF")
        with_rights.close()
