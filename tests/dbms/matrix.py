"""Servers of each kind that a user may meet: which URL leads there, and what Tare owes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, owner, restart, start_mariadb, start_postgresql
from tare.errors import ServerMissing
from tests.servers import fill_server


def shared(factory: pytest.TempPathFactory) -> Path:
    """Directory that a server's user can enter."""
    directory = factory.mktemp("matrix")
    for path in (directory, *directory.parents):
        if path == Path(tempfile.gettempdir()):
            break
        path.chmod(path.stat().st_mode | 0o055)
    return directory


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def certificate(directory: Path) -> tuple[Path, Path]:
    """A key and the certificate that it signs itself, of 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    key, made = directory / "server.key", directory / "server.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", made],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, made


def run(url: str, *statements: str) -> None:
    session = find(url).connect(url, allow_writes=True)
    try:
        for statement in statements:
            session.run(statement)
    finally:
        session.close()


@contextmanager
def postgresql(version: str, directory: Path) -> Iterator[dict[str, str]]:
    """URLs by case. From 127.0.0.1 the server takes encrypted connections only, where its build has TLS; cases of TLS
    are missing where not. "behind": the server, as a pooler names it."""
    try:
        server = start_postgresql(version=version, port=free_port())
    except ServerMissing as error:
        pytest.skip(f"no PostgreSQL {version} here: {error.what}")
    with server:
        fill_server(server.url)
        run(
            server.url,
            "CREATE ROLE powerless LOGIN",
            "CREATE ROLE hasty LOGIN",
            "GRANT SELECT ON numbers TO hasty",
            "ALTER ROLE hasty SET statement_timeout = '1ms'",
            "CREATE ROLE locked LOGIN PASSWORD 'right'",
            "CREATE DATABASE closed",
            "REVOKE CONNECT ON DATABASE closed FROM PUBLIC",
        )
        with_tls = _with_tls(server, directory)
        kind = "hostssl" if with_tls else "host"
        access = server.record.data_directory / "pg_hba.conf"
        access.write_text(
            f"local all all trust\n{kind} all locked 127.0.0.1/32 scram-sha-256\n{kind} all all 127.0.0.1/32 trust\n"
        )
        restart(server.record)
        place = f"127.0.0.1:{server.record.port}/"
        sockets = f"postgres?host={server.record.socket_directory}&port={server.record.port}"
        yield {
            "plain": f"postgresql:///{sockets}&user=postgres",
            "wrong password": f"postgresql://locked:wrong@{place}postgres",
            "no password": f"postgresql://locked@{place}postgres",
            "no such database": f"postgresql://postgres@{place}nowhere",
            "not let in": f"postgresql://powerless@{place}closed",
            "without rights": f"postgresql:///{sockets}&user=powerless",
            "statement_timeout": f"postgresql:///{sockets}&user=hasty",
            "behind": f"host={server.record.socket_directory} port={server.record.port}",
            **with_tls,
        }


def _with_tls(server: RunningServer, directory: Path) -> dict[str, str]:
    """Switches TLS on from the next start. Cases of TLS; none where the build has no TLS."""
    session = find(server.url).connect(server.url)
    library = session.setting("ssl_library")
    session.close()
    if not library:
        return {}
    data = server.record.data_directory
    key, made = certificate(directory)
    for file in (key, made):
        copy = Path(shutil.copy(file, data))
        shutil.chown(copy, data.stat().st_uid, data.stat().st_gid)
        copy.chmod(0o600)
    run(server.url, "ALTER SYSTEM SET ssl = on")
    url = f"postgresql://postgres@127.0.0.1:{server.record.port}/postgres"
    return {
        "tls": url,
        "tls proved": f"{url}?sslmode=verify-full&sslrootcert={made}",
        "tls switched off": f"{url}?sslmode=disable",
        "tls not trusted": f"{url}?sslmode=verify-full&sslrootcert={_other(directory)}",
    }


def _other(directory: Path) -> Path:
    other = directory / "other"
    other.mkdir(exist_ok=True)
    return certificate(other)[1]


@contextmanager
def pgbouncer(mode: str, behind: str, directory: Path) -> Iterator[str]:
    """URL of a PgBouncer in this pool mode."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("no PgBouncer here: apt-get install pgbouncer")
    runs_as = owner.choose("postgres")
    port = free_port()
    users = directory / "users.txt"
    users.write_text('"postgres" ""\n')
    configuration = directory / f"{mode}.ini"
    configuration.write_text(
        f"[databases]\n* = {behind}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        f"unix_socket_dir =\nauth_type = trust\nauth_file = {users}\npool_mode = {mode}\n"
    )
    with (directory / f"{mode}.log").open("wb") as log:
        process = subprocess.Popen([program, configuration], stdout=log, stderr=log, **runs_as.as_user())
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        process.kill()
        process.wait()


@contextmanager
def mariadb(directory: Path) -> Iterator[dict[str, str]]:
    """URLs by case, over a server with TLS."""
    pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    key, made = certificate(directory)
    for file in (key, made):
        file.chmod(0o644)
    settings = {"ssl-key": str(key), "ssl-cert": str(made), "plugin-load-add": "auth_ed25519"}
    try:
        server = start_mariadb(settings=settings, port=free_port())
    except ServerMissing as error:
        pytest.skip(f"no MariaDB here: {error.what}")
    with server:
        fill_server(server.url)
        run(
            server.url,
            "CREATE USER encrypted IDENTIFIED BY 'right' REQUIRE SSL",
            "CREATE USER curved IDENTIFIED VIA ed25519 USING PASSWORD('right')",
            "CREATE USER powerless IDENTIFIED BY 'right'",
            "GRANT USAGE ON *.* TO hasty IDENTIFIED BY 'right' WITH MAX_STATEMENT_TIME 0.001",
            *(f"GRANT SELECT ON tare.* TO {user}" for user in ("encrypted", "curved", "hasty")),
            "CREATE TABLE tare.others (a integer)",
            "GRANT SELECT ON tare.others TO powerless",
        )
        place = f"127.0.0.1:{server.record.port}/tare"
        yield {
            "plain": server.url,
            "require ssl": f"mariadb://encrypted:right@{place}",
            "require ssl, requested": f"mariadb://encrypted:right@{place}?ssl-mode=required",
            "require ssl, proved": f"mariadb://encrypted:right@{place}?ssl-mode=verify-ca&ssl-ca={made}",
            "require ssl, switched off": f"mariadb://encrypted:right@{place}?ssl-mode=disabled",
            "require ssl, not trusted": f"mariadb://encrypted:right@{place}?ssl-mode=verify-ca&ssl-ca={_other(directory)}",
            "ed25519": f"mariadb://curved:right@{place}",
            "ed25519, wrong password": f"mariadb://curved:wrong@{place}",
            "wrong password": f"mariadb://powerless:wrong@{place}",
            "no such database": f"mariadb://root@{place.removesuffix('tare')}nowhere",
            "not let in": f"mariadb://powerless:right@{place.removesuffix('tare')}mysql",
            "without rights": f"mariadb://powerless:right@{place}",
            "max_statement_time": f"mariadb://hasty:right@{place}",
        }
