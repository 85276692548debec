"""Servers that take encrypted sessions only are loaded and run on; certificates are checked as far as requested."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tare.dbms.servers import RunningServer, mariadb, restart, start_mariadb, start_postgresql
from tare.errors import DriverFailed, ServerMissing
from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tare.workload.oltp import conditions
from tare.workload.oltp.events import LoadDone
from tare.workload.oltp.request import Load, Request
from tests.cli.running import tare

PASSWORD = "s3cret"


@dataclass(frozen=True)
class Certificates:
    """An authority, a server's certificate of it for the name localhost and no other, and another authority."""

    folder: Path

    def __getattr__(self, name: str) -> Path:
        return self.folder / f"{name}.pem"


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("authority", "stranger"):
        openssl(
            folder,
            "req",
            "-x509",
            *key,
            "-keyout",
            f"{name}_key.pem",
            "-out",
            f"{name}.pem",
            "-subj",
            f"/CN={name}",
        )
    openssl(folder, "req", *key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName = DNS:localhost\nbasicConstraints = CA:FALSE\n")
    openssl(
        folder, "x509", "-req", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority_key.pem",
        "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem",
    )  # fmt: skip
    return Certificates(folder)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def give(files: Certificates, to: Path) -> tuple[Path, Path]:
    """The server's certificate and key in a folder of its own, as only it may read them."""
    owner = to.stat()
    given = []
    for file in (files.server, files.key):
        copy = to / f"tls_{file.name}"
        shutil.copy(file, copy)
        os.chown(copy, owner.st_uid, owner.st_gid)
        copy.chmod(0o600)
        given.append(copy)
    return given[0], given[1]


@pytest.fixture(scope="module")
def postgresql(certificates: Certificates) -> Iterator[RunningServer]:
    """TLS only, and a password."""
    try:
        server = start_postgresql(port=free_port(), version="15")  # the wheels' programs know no TLS
    except ServerMissing as error:
        pytest.skip(f"no server here: {error.what}")
    with server:
        data = server.record.data_directory
        certificate, key = give(certificates, data)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
            for name, value in (("ssl", "on"), ("ssl_cert_file", certificate), ("ssl_key_file", key)):
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        (data / "pg_hba.conf").write_text("hostssl all all all scram-sha-256\nlocal all all trust\n")
        restart(server.record)
        yield server


@pytest.fixture(scope="module")
def mariadb_server(certificates: Certificates) -> Iterator[RunningServer]:
    """With a user that must encrypt, and one of the plugin ed25519."""
    connector = pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    try:
        server = start_mariadb(port=free_port())
    except ServerMissing as error:
        pytest.skip(f"no server here: {error.what}")
    with server:
        certificate, key = give(certificates, server.record.data_directory)
        mariadb.stop(server.record)
        mariadb.start(server.record, {"ssl-cert": str(certificate), "ssl-key": str(key)})
        with connector.connect(
            host="127.0.0.1", port=server.record.port, user="root", autocommit=True
        ) as connection:
            cursor = connection.cursor()
            for sql in (
                "INSTALL SONAME 'auth_ed25519'",
                f"CREATE USER encrypting@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL",
                f"CREATE USER curve@'%' IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')",
                "CREATE DATABASE load_test",
                "GRANT ALL ON load_test.* TO encrypting@'%'",
                "GRANT ALL ON load_test.* TO curve@'%'",
            ):
                cursor.execute(sql)
        yield server


def at(
    server: RunningServer, parameters: str = "", *, user: str = "postgres", host: str = "localhost"
) -> str:
    kind = server.record.kind
    database = "postgres" if kind == "postgresql" else "load_test"
    return f"{kind}://{user}:{PASSWORD}@{host}:{server.record.port}/{database}?{parameters}"


def loaded(url: str) -> int:
    """Rows that the driver loads over the connection. Raises DriverFailed."""
    request = Request(
        url=url, workload="tatp", scale=0.001, options={}, seed=1, connect_timeout_s=20,
        action=Load(connections=2, replace=True),
    )  # fmt: skip
    done = conditions.last_of(conditions.carry_out(request, lambda event: None), LoadDone)
    return sum(table.rows for table in done.tables)


def refusal(url: str) -> str:
    with pytest.raises(DriverFailed) as failed:
        loaded(url)
    text = str(failed.value)
    assert PASSWORD not in text
    return text


def test_every_sslmode_that_may_encrypt_loads_where_only_tls_is_taken(
    postgresql: RunningServer, certificates: Certificates
) -> None:
    for parameters in (
        "",
        "sslmode=allow",
        "sslmode=require",
        f"sslmode=verify-ca&sslrootcert={certificates.authority}",
        f"sslmode=verify-full&sslrootcert={certificates.authority}",
        f"sslmode=verify-full&sslrootcert={certificates.server}",
    ):
        assert loaded(at(postgresql, parameters)) > 300, parameters
    by_number = f"sslmode=verify-ca&sslrootcert={certificates.authority}"
    assert loaded(at(postgresql, by_number, host="127.0.0.1")) > 300, "verify-ca does not look at the name"


def test_a_certificate_that_does_not_fit_is_refused_with_the_reason(
    postgresql: RunningServer, certificates: Certificates
) -> None:
    unknown = f"sslmode=verify-ca&sslrootcert={certificates.stranger}"
    assert "no certificate in sslrootcert has signed it" in refusal(at(postgresql, unknown))
    other_name = f"sslmode=verify-full&sslrootcert={certificates.authority}"
    assert "it is not for 127.0.0.1" in refusal(at(postgresql, other_name, host="127.0.0.1"))
    assert "give sslrootcert=FILE" in refusal(at(postgresql, "sslmode=verify-full"))
    assert "sslmode=disable" not in refusal(at(postgresql, "sslrootcert=/nowhere.pem&sslmode=require"))
    assert "no encryption" in refusal(at(postgresql, "sslmode=disable")), "the server's own words"


def test_a_run_over_tls_is_valid_work_and_says_how_it_was_encrypted(
    postgresql: RunningServer, tmp_path: Path
) -> None:
    url = at(postgresql, "sslmode=require")
    loaded(url)
    lab = tmp_path / "lab.db"
    done = tare(
        "bench", "oltp", "run", "tatp", "--db", url, "--rate", "50", "--duration", "2s", "--warmup", "0",
        "--connections", "2", "--lab", str(lab),
    )  # fmt: skip
    assert "conditions on the data" in done.out, done.err
    with open_lab(str(lab)) as opened:
        run = runs.load(opened, 1)
    assert run.outcome.all.counts.finished > 90
    assert str(run.server.settings["encryption"]).startswith("TLS 1.3 TLS13_")


def test_a_mariadb_user_that_must_encrypt_is_loaded_with_and_without_a_checked_certificate(
    mariadb_server: RunningServer, certificates: Certificates
) -> None:
    for parameters in ("", "ssl-mode=required", f"ssl-mode=verify-ca&ssl-ca={certificates.authority}"):
        assert loaded(at(mariadb_server, parameters, user="encrypting")) > 300, parameters
    assert "Access denied" in refusal(at(mariadb_server, "ssl-mode=disabled", user="encrypting"))
    stranger = f"ssl-mode=verify-ca&ssl-ca={certificates.stranger}"
    assert "certificate" in refusal(at(mariadb_server, stranger, user="encrypting"))


def test_a_mariadb_user_of_ed25519_is_loaded(mariadb_server: RunningServer) -> None:
    assert loaded(at(mariadb_server, user="curve", host="127.0.0.1")) > 300
