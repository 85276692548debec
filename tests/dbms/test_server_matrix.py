"""Each kind of server is weighed, or refused with the true cause and the step that leads on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tare.dbms.postgresql.pooling import refuse_shared_backends
from tare.errors import SharedBackends
from tests.cli.running import Said, tare
from tests.dbms import matrix

QUERY = "SELECT grp, count(*), sum(id) FROM numbers GROUP BY grp"

WEIGHED = {
    "postgresql": ("plain", "tls", "tls proved", "statement_timeout"),
    "mariadb": (
        "plain", "require ssl", "require ssl, requested", "require ssl, proved", "ed25519", "max_statement_time",
    ),
}  # fmt: skip
REFUSED = {
    "postgresql": {
        "tls switched off": ("no encryption", "sslmode=require"),
        "tls not trusted": ("certificate", "sslrootcert"),
        "wrong password": ("password authentication failed", "check user and password"),
        "no password": ("no password supplied", "give a password"),
        "no such database": ("nowhere", "check the database's name"),
        "not let in": ("permission denied", "GRANT CONNECT"),
        "without rights": ("permission denied for table numbers", "GRANT"),
    },
    "mariadb": {
        "require ssl, switched off": ("Access denied", "ssl-mode=disabled"),
        "require ssl, not trusted": ("certificate", "ssl-ca"),
        "ed25519, wrong password": ("Access denied", "check the user and the password"),
        "wrong password": ("Access denied", "check the user and the password"),
        "no such database": ("nowhere", "SHOW DATABASES"),
        "not let in": ("Access denied", "grant the user a right to this database"),
        "without rights": ("SELECT command denied", "GRANT"),
    },
}


@pytest.fixture(scope="module", params=["15", "18"])
def postgresql(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with matrix.postgresql(request.param, matrix.shared(tmp_path_factory)) as urls:
        yield urls


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with matrix.mariadb(matrix.shared(tmp_path_factory)) as urls:
        yield urls


def url_of(case: str, urls: dict[str, str]) -> str:
    if case not in urls:
        pytest.skip("this build of PostgreSQL has no TLS")
    return urls[case]


def weigh(url: str) -> Said:
    return tare("time", QUERY, "--db", url, "--runs", "2", "--warmup", "0", "--json", "-")


def assert_weighed(said: Said) -> None:
    assert said.code == 0, said.err
    (query,) = said.result["results"]
    assert query["measures"]["cpu_ms"]["median"] > 0
    assert query["answer"]["rows"] == 100


def assert_refused(said: Said, cause: str, step: str) -> None:
    assert said.code != 0, said.out
    what, _, next_step = said.err.partition("next: ")
    assert cause in " ".join(what.split())
    assert step in " ".join(next_step.split())
    assert "right@" not in said.err


@pytest.mark.parametrize("case", WEIGHED["postgresql"])
def test_postgresql_is_weighed(case: str, postgresql: dict[str, str]) -> None:
    assert_weighed(weigh(url_of(case, postgresql)))


@pytest.mark.parametrize("case", REFUSED["postgresql"])
def test_postgresql_is_refused_with_its_cause(case: str, postgresql: dict[str, str]) -> None:
    assert_refused(weigh(url_of(case, postgresql)), *REFUSED["postgresql"][case])


def test_a_pooler_that_keeps_a_backend_for_a_session_is_weighed_through(
    postgresql: dict[str, str], tmp_path: Path
) -> None:
    with matrix.pgbouncer("session", postgresql["behind"], tmp_path) as url:
        assert_weighed(weigh(url))


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_pooler_that_changes_backends_is_named_as_what_it_is(
    mode: str, postgresql: dict[str, str], tmp_path: Path
) -> None:
    with matrix.pgbouncer(mode, postgresql["behind"], tmp_path) as url:
        said = weigh(url)
    assert said.code == 2
    assert_refused(said, "gives each transaction another backend", "pool_mode = session")


@contextmanager
def busy_clients(url: str) -> Iterator[None]:
    """Four clients whose transactions take the pooler's backends for a moment and give them back."""
    done = threading.Event()

    def load() -> None:
        with psycopg.connect(url, prepare_threshold=None) as client:
            while not done.wait(0.05):
                client.execute("SELECT pg_sleep(0.002)")
                client.commit()

    clients = [threading.Thread(target=load) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        done.set()
        for client in clients:
            client.join()


@pytest.mark.parametrize(("mode", "shared"), [("transaction", 200), ("session", 0)])
def test_a_pooler_is_told_apart_each_time_while_other_clients_use_it(
    mode: str, shared: int, postgresql: dict[str, str], tmp_path: Path
) -> None:
    found = 0
    with matrix.pgbouncer(mode, postgresql["behind"], tmp_path) as url, busy_clients(url):
        for _ in range(200):
            with psycopg.connect(url, autocommit=True) as first:
                try:
                    refuse_shared_backends(first, lambda: psycopg.connect(url, autocommit=True), url)
                except SharedBackends:
                    found += 1
    assert found == shared


@pytest.mark.mariadb
@pytest.mark.parametrize("case", WEIGHED["mariadb"])
def test_mariadb_is_weighed(case: str, mariadb: dict[str, str]) -> None:
    assert_weighed(weigh(mariadb[case]))


@pytest.mark.mariadb
@pytest.mark.parametrize("case", REFUSED["mariadb"])
def test_mariadb_is_refused_with_its_cause(case: str, mariadb: dict[str, str]) -> None:
    assert_refused(weigh(mariadb[case]), *REFUSED["mariadb"][case])


@pytest.mark.mariadb
def test_mysql_before_5_7_is_weighed_by_the_thread_that_computes_when_told(mysql_url: str) -> None:
    assert_weighed(weigh(mysql_url))
