"""A statement that waits for another session says so, and by whom; nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tare.dbms import patience
from tare.dbms.base import Session
from tare.dbms.embedded import client
from tare.dbms.postgresql import wire as postgresql_wire
from tare.dbms.registry import find
from tare.errors import ConnectionFailed, StatementFailed, StillWaiting
from tests.servers import make_duckdb, make_sqlite

COUNT = "SELECT count(*) FROM numbers"


@pytest.fixture
def locked(postgresql15_url: str) -> Iterator[int]:
    """The process that holds a lock on the table."""
    with psycopg.connect(postgresql15_url, application_name="the holder") as connection:
        connection.execute("LOCK TABLE numbers")
        yield connection.info.backend_pid
        connection.rollback()


@pytest.mark.parametrize("is_set_up", [False, True], ids=["planning", "set-up"])
def test_postgresql_says_which_lock_and_who_holds_it(
    postgresql15_url: str, locked: int, is_set_up: bool
) -> None:
    session = find(postgresql15_url).connect(postgresql15_url)
    try:
        assert session.patience
        session.patience.timeout_s = 0.2
        with pytest.raises(StillWaiting) as raised:
            session.run(f"{COUNT}") if is_set_up else session.explain(COUNT)
        assert "waits for a lock on public.numbers (AccessShareLock)" in raised.value.what
        assert f"process {locked} (user postgres, the holder, idle in transaction)" in raised.value.what
        assert "--timeout" in raised.value.next_step
        assert session.explain("SELECT 1"), "the session can be used"
    finally:
        session.close()


def test_a_wait_is_reported_until_the_lock_is_free(
    postgresql15_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a time-out it may last longer than a server may be silent."""
    monkeypatch.setattr(patience, "LOOK_S", 0.1)
    monkeypatch.setattr(postgresql_wire, "OWN_S", 0.1)
    reported: list[str] = []
    with psycopg.connect(postgresql15_url) as holder:
        holder.execute("LOCK TABLE numbers")
        session = find(postgresql15_url).connect(postgresql15_url)
        assert session.patience

        def report(what: str) -> None:
            reported.append(what)
            if len(reported) == 5:
                holder.rollback()

        session.patience.report = report
        try:
            session.explain(COUNT)
        finally:
            session.close()
    assert len(reported) >= 5
    assert all("waits for a lock on public.numbers" in what for what in reported[:5])


def test_a_set_up_statement_at_work_is_no_wait(postgresql15_url: str) -> None:
    session = find(postgresql15_url).connect(postgresql15_url)
    try:
        assert session.patience
        session.patience.timeout_s = 0.1
        session.run("SELECT pg_sleep(0.5)")
    finally:
        session.close()


def _mariadb_wait(url: str, session: Session) -> StillWaiting:
    holder = find(url).connect(url, allow_writes=True)
    try:
        holder.run("LOCK TABLES numbers WRITE")
        assert session.patience
        session.patience.timeout_s = 0.5
        with pytest.raises(StillWaiting) as raised:
            session.explain(COUNT)
    finally:
        holder.close()
    return raised.value


@pytest.mark.mariadb
def test_mariadb_says_what_it_waits_for_and_who_holds_it_where_it_shows_that(mariadb_url: str) -> None:
    session = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    try:
        error = _mariadb_wait(mariadb_url, session)
        assert "'Waiting for table metadata lock'" in error.what
        assert "metadata_lock_info" in error.what
        session.run("INSTALL SONAME 'metadata_lock_info'")
        try:
            error = _mariadb_wait(mariadb_url, session)
            assert "tare.numbers (user " in error.what
            assert "held by connection " in error.what
        finally:
            session.run("UNINSTALL SONAME 'metadata_lock_info'")
        assert session.explain(COUNT), "the session can be used"
    finally:
        session.close()


@contextmanager
def process_that(code: str) -> Iterator[int]:
    """A process that has run `code` and lives on."""
    started = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint('done', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with started:
        assert started.stdout
        assert started.stdout.readline()
        yield started.pid


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_sqlite_names_the_process_that_holds_the_lock(tmp_path: Path, mode: str) -> None:
    url, path = make_sqlite(tmp_path / "locked.db"), tmp_path / "locked.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.close()
    code = f"import sqlite3\nc = sqlite3.connect({str(path)!r}, isolation_level=None)\nc.execute('BEGIN EXCLUSIVE')"
    session = find(url).connect(url, timeout_s=0.1, allow_writes=True)
    try:
        with process_that(code) as pid:
            with pytest.raises(StatementFailed, match=rf"database is locked, by process {pid} \(python"):
                session.run("CREATE TABLE new (a int)")
            if mode == "DELETE":
                with pytest.raises(ConnectionFailed, match=rf"database is locked, by process {pid} \(python"):
                    find(url).connect(url, timeout_s=0.1)
        session.run("CREATE TABLE new (a int)")
    finally:
        session.close()


def test_duckdb_names_the_process_that_has_locked_the_file(tmp_path: Path) -> None:
    url = make_duckdb(tmp_path / "locked.duckdb")
    path = str(tmp_path / "locked.duckdb")
    with (
        process_that(f"import duckdb\nc = duckdb.connect({path!r})") as pid,
        pytest.raises(ConnectionFailed, match=rf"process {pid} \(python.*\) has locked it"),
    ):
        find(url).connect(url)
    find(url).connect(url).close()


def test_preparing_that_takes_long_is_no_lost_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite waits for the lock before it runs the first instruction."""
    monkeypatch.setattr("tare.dbms.embedded.client.OWN_S", 0.1)
    monkeypatch.setattr(patience, "LOOK_S", 0.1)
    url = make_sqlite(tmp_path / "slow.db")
    session = find(url).connect(url, timeout_s=60)
    holder = sqlite3.connect(tmp_path / "slow.db", isolation_level=None)
    assert session.patience
    reported: list[str] = []

    def report(what: str) -> None:
        reported.append(what)
        if len(reported) == 5:
            holder.execute("COMMIT")

    session.patience.report = report
    try:
        holder.execute("BEGIN EXCLUSIVE")
        session.prepare(COUNT)
    finally:
        holder.close()
        session.close()
    assert len(reported) >= 5
    holder_named = f"locks are held by process {os.getpid()} ("
    assert [what for what in reported[:5] if holder_named not in what] == []


@pytest.mark.parametrize("is_set_up", [False, True], ids=["planning", "set-up"])
def test_a_wait_for_sqlites_lock_ends_with_the_time_out_and_names_the_holder(
    tmp_path: Path, is_set_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LEAVE_S", 0.5)  # SQLite heeds no interrupt while it waits
    url = make_sqlite(tmp_path / "held.db")
    session = find(url).connect(url, timeout_s=60)
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    assert session.patience
    session.patience.timeout_s = 0.5
    try:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StillWaiting) as raised:
            session.run(COUNT) if is_set_up else session.prepare(COUNT)
    finally:
        holder.close()
        session.close()
    assert (
        f"held.db is locked, and its engine waits; locks are held by process {os.getpid()} ("
        in raised.value.what
    )
    assert "--timeout" in raised.value.next_step
