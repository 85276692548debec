"""Each kind of server is loaded, run on and dropped, or refused with the true cause and the step that leads on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tare.workload.oltp.run import OltpRun
from tests.cli.running import Said, tare
from tests.dbms import matrix

LOADED = {
    "postgresql": ("plain", "tls", "tls proved", "statement_timeout"),
    "mariadb": ("plain", "require ssl", "ed25519", "max_statement_time"),
}
REFUSED = {
    "postgresql": {
        "tls switched off": ("no encryption", "sslmode=require"),
        "tls not trusted": ("certificate", "sslrootcert"),
        "wrong password": ("password authentication failed", "user and password"),
        "no password": ("password", "~/.pgpass"),
        "no such database": ("nowhere", "database"),
        "not let in": ("permission denied", "GRANT CONNECT"),
        "without rights": ("permission denied for schema public", "GRANT CREATE ON SCHEMA"),
    },
    "mariadb": {
        "require ssl, switched off": ("Access denied", "ssl-mode"),
        "require ssl, not trusted": ("certificate", "ssl-ca"),
        "require ssl, proved": ("CaUsedAsEndEntity", "none of an authority itself"),
        "ed25519, wrong password": ("Access denied", "user and password"),
        "wrong password": ("Access denied", "user and password"),
        "no such database": ("nowhere", "database"),
        "not let in": ("Access denied", "grant"),
        "without rights": ("command denied", "right to make"),
    },
}


@pytest.fixture(scope="module", params=["15", "18"])
def postgresql(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with matrix.postgresql(request.param, matrix.shared(tmp_path_factory)) as urls:
        matrix.run(urls["plain"], "GRANT CREATE ON SCHEMA public TO hasty")
        yield urls


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with matrix.mariadb(matrix.shared(tmp_path_factory)) as urls:
        matrix.run(
            urls["plain"], *(f"GRANT ALL ON tare.* TO {user}" for user in ("encrypted", "curved", "hasty"))
        )
        yield urls


def url_of(case: str, urls: dict[str, str]) -> str:
    if case not in urls:
        pytest.skip("this build of PostgreSQL has no TLS")
    return urls[case]


def oltp(*words: str) -> Said:
    return tare("bench", "oltp", *words)


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def assert_loaded(
    url: str,
    folder: Path,
    *more: str,
    workload: str = "tatp",
    scale: str = "0.01",
    run_with: tuple[str, ...] = (),
) -> OltpRun:
    """Load, run, check and drop. Returns the run."""
    lab = folder / "lab.db"
    try:
        loaded = oltp("load", workload, "--scale", scale, "--db", url, *more, "--connections", "2")
        assert loaded.code == 0, loaded.err
        ran = oltp(
            "run", workload, "--db", url, "--lab", str(lab), "--rate", "40", "--duration", "2s", "--warmup", "0",
            "--connections", "4", *more, *run_with,
        )  # fmt: skip
        assert "conditions on the data" in ran.out, ran.err
    finally:
        dropped = oltp("drop", workload, "--db", url, *more)
    assert dropped.code == 0, dropped.err
    with open_lab(str(lab)) as opened:
        run = runs.load(opened, 1)
    assert run.outcome.all.counts.errors == 0, run.troubles
    assert run.outcome.all.counts.finished > 70
    assert not any(check.failing for check in run.after)
    return run


def assert_refused(url: str, cause: str, step: str, *more: str) -> None:
    said = oltp("load", "tatp", "--scale", "0.01", "--db", url, *more)
    assert said.code != 0, said.out
    what, _, next_step = said.err.partition("next: ")
    assert cause in flat(what)
    assert step in flat(next_step)
    assert "right@" not in said.err


@pytest.mark.parametrize("case", LOADED["postgresql"])
def test_postgresql_is_loaded(case: str, postgresql: dict[str, str], tmp_path: Path) -> None:
    run = assert_loaded(url_of(case, postgresql), tmp_path)
    assert run.asked.protocol == "named"


@pytest.mark.parametrize("case", REFUSED["postgresql"])
def test_postgresql_is_refused_with_its_cause(case: str, postgresql: dict[str, str]) -> None:
    assert_refused(url_of(case, postgresql), *REFUSED["postgresql"][case])


def test_a_pooler_that_keeps_a_backend_for_a_session_is_loaded_through(
    postgresql: dict[str, str], tmp_path: Path
) -> None:
    with matrix.pgbouncer("session", postgresql["behind"], tmp_path) as url:
        assert_loaded(url, tmp_path)


@pytest.mark.parametrize("protocol", ["simple", "unnamed"])
def test_a_pooler_that_changes_backends_is_loaded_through_without_the_session(
    protocol: str, postgresql: dict[str, str], tmp_path: Path
) -> None:
    with matrix.pgbouncer("transaction", postgresql["behind"], tmp_path) as url:
        run = assert_loaded(url, tmp_path, "--protocol", protocol, workload="tpcc", scale="1")
    assert run.asked.protocol == protocol
    assert "another backend" in (run.unmeasured or {})["statistics"]


@pytest.mark.parametrize("protocol", ["simple", "unnamed", "named"])
def test_statements_are_sent_alone_over_each_protocol(
    protocol: str, postgresql: dict[str, str], tmp_path: Path
) -> None:
    assert_loaded(
        postgresql["plain"],
        tmp_path,
        "--protocol",
        protocol,
        workload="ycsb",
        scale="0.1",
        run_with=("--autocommit",),
    )


def test_statements_sent_alone_do_not_run_at_another_level_than_asked(
    postgresql: dict[str, str], tmp_path: Path
) -> None:
    words = ("--db", postgresql["plain"], "--protocol", "simple", "--lab", str(tmp_path / "lab.db"))
    loaded = oltp("load", "ycsb", "--scale", "0.01", *words)
    assert loaded.code == 0, loaded.err
    said = oltp("run", "ycsb", *words, "--autocommit", "--isolation", "serializable", "--duration", "1s")
    dropped = oltp("drop", "ycsb", *words)
    assert dropped.code == 0, dropped.err
    assert said.code == 2
    assert "default isolation level, read committed, not serializable" in flat(said.err)


def test_a_pooler_that_changes_backends_is_refused_with_the_protocols_that_it_takes(
    postgresql: dict[str, str], tmp_path: Path
) -> None:
    with matrix.pgbouncer("transaction", postgresql["behind"], tmp_path) as url:
        assert_refused(url, "prepared statement", "--protocol unnamed")
        loaded = oltp("load", "tatp", "--scale", "0.01", "--db", url, "--protocol", "simple")
        assert loaded.code == 0, loaded.err
        said = oltp("run", "tatp", "--db", url, "--lab", str(tmp_path / "lab.db"), "--duration", "1s")
        dropped = oltp("drop", "tatp", "--db", url, "--protocol", "simple")
    assert dropped.code == 0, dropped.err
    assert said.code == 2
    assert "gives each transaction another backend" in flat(said.err)
    assert "--protocol unnamed or --protocol simple" in flat(said.err)


@pytest.mark.mariadb
@pytest.mark.parametrize("case", LOADED["mariadb"])
def test_mariadb_is_loaded(case: str, mariadb: dict[str, str], tmp_path: Path) -> None:
    assert_loaded(mariadb[case], tmp_path)


@pytest.mark.mariadb
@pytest.mark.parametrize("protocol", ["simple", "named"])
def test_mariadb_runs_tpcc_over_text_and_prepared(
    protocol: str, mariadb: dict[str, str], tmp_path: Path
) -> None:
    run = assert_loaded(
        mariadb["plain"],
        tmp_path,
        "--protocol",
        protocol,
        workload="tpcc",
        scale="1",
        run_with=("--mix", "new_order=1"),
    )
    assert run.asked.protocol == protocol
    assert run.outcome.round_trips is not None
    waits = run.outcome.round_trips / run.outcome.all.counts.finished
    assert 22 < waits < 29, "two lookups for each of ten lines in the mean, and five for all else"


@pytest.mark.mariadb
@pytest.mark.parametrize("case", REFUSED["mariadb"])
def test_mariadb_is_refused_with_its_cause(case: str, mariadb: dict[str, str]) -> None:
    assert_refused(mariadb[case], *REFUSED["mariadb"][case])


@pytest.mark.mariadb
def test_a_protocol_that_mariadb_does_not_have_is_refused(mariadb: dict[str, str]) -> None:
    assert_refused(
        mariadb["plain"], "no unnamed prepared statements", "leave it out", "--protocol", "unnamed"
    )


@pytest.mark.mariadb
def test_mysql_5_6_is_loaded(mysql_url: str, tmp_path: Path) -> None:
    run = assert_loaded(mysql_url, tmp_path)
    assert run.server.version.startswith("5.6")
