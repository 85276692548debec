"""Data files, flushing, and emptying the DBMS's own caches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tare._probe import evict, residency
from tare.dbms import local
from tare.dbms.base import Session
from tare.dbms.mariadb import caches, restart
from tare.dbms.mariadb.session import MariaDBSession
from tare.dbms.mariadb.wire import Wire
from tare.dbms.registry import find
from tare.errors import CacheNotCleared, StatementFailed
from tare.measure.caches import empty_buffers, evict_files, residence
from tare.measure.choices import CacheState

SUM = "SELECT count(*), sum(id) FROM numbers"


@pytest.fixture
def session(url: str) -> Iterator[Session]:
    """Not shared: its server may be restarted beneath it."""
    opened = find(url).connect(url)
    yield opened
    opened.close()


def test_data_files_exist_and_hold_the_table(session: Session) -> None:
    files = session.data_files()
    assert files
    assert all(path.is_file() for path in files)
    assert sum(path.stat().st_size for path in files) > 400_000


def test_after_a_flush_the_page_cache_lets_the_files_go(writing: Session) -> None:
    writing.run("UPDATE numbers SET val = val WHERE id < 2000")
    writing.flush()
    paths = [str(path) for path in writing.data_files()]
    evict(paths)
    left = residency(paths)
    assert sum(file.resident for file in left) <= 0.02 * sum(file.pages for file in left)


@pytest.mark.mariadb
@pytest.mark.parametrize("engine", ["MyISAM", "Aria"])
def test_tables_that_are_written_without_being_synced_are_let_go(engine: str, mariadb_url: str) -> None:
    session = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    try:
        session.run(
            f"CREATE TABLE unsynced ENGINE = {engine} AS SELECT seq, repeat('x', 1000) FROM seq_1_to_20000"
        )
        empty_buffers(session, CacheState.LUKEWARM_OS)
        evict_files(session, CacheState.LUKEWARM_OS, None)
        found = residence(session, None, None)
        assert found.file_bytes
        assert found.file_bytes > 20_000_000
        assert found.page_cache_bytes == 0
    finally:
        session.run("DROP TABLE unsynced")
        session.close()


@pytest.mark.mariadb
@pytest.mark.parametrize("way", ["innodb_log_checkpoint_now", "no_such_variable"])
def test_innodb_writes_a_load_out_and_its_settings_are_put_back(
    way: str, mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a checkpoint, and as servers do that have none to ask for."""
    monkeypatch.setattr(caches, "_CHECKPOINT", way)
    settings = "SHOW GLOBAL VARIABLES LIKE 'innodb%'"
    dirty = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"
    session = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    before = session.own.query(settings)
    session.run("CREATE TABLE large AS SELECT seq, repeat('x', 1000) FROM seq_1_to_40000")
    try:
        assert int(session.own.query(dirty)[0][1]) > 2_000
        session.flush()
        assert int(session.own.query(dirty)[0][1]) < 200, "what the server itself does in the background"
        assert session.own.query(settings) == before
    finally:
        session.run("DROP TABLE large")
        session.close()


def test_cleared_buffers_fill_again_and_leave_a_usable_session_whose_statements_are_gone(
    session: Session,
) -> None:
    prepared = session.prepare(SUM)
    before = list(prepared.execute(10).rows())
    held = session.buffer_residency()
    how = session.clear_buffers()
    assert how
    cold = session.buffer_residency()
    with pytest.raises(StatementFailed, match="prepare it again"):
        prepared.execute(10)
    leader = session.leader()
    assert leader is not None
    assert list(session.prepare(SUM).execute(10).rows()) == before
    session.prepare("SELECT sum(val), max(txt) FROM numbers").execute(10)
    warm = session.buffer_residency()
    if held is not None:
        assert cold is not None
        assert cold.resident_bytes <= held.resident_bytes
    if cold is not None:
        assert warm is not None
        assert warm.resident_bytes > cold.resident_bytes
        assert warm.how


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_server_that_is_not_ours_is_not_restarted_without_leave(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same server without its marker is a stranger's."""
    url = request.getfixturevalue(f"{name}_url")
    session = find(url).connect(url)
    assert session.server.data_directory is not None
    marker = session.server.data_directory.parent / "tare-server.json"
    hidden = marker.with_suffix(".hidden")
    leader = session.leader()
    marker.rename(hidden)
    try:
        with pytest.raises(CacheNotCleared, match="--allow-restart"):
            session.clear_buffers()
        assert session.leader() == leader
        session.close()
        session = find(url).connect(url, allow_restart=True)
        assert session.clear_buffers() == "restart"
        assert list(session.prepare(SUM).execute(10).rows()) != []
        assert session.leader() != leader
    finally:
        hidden.rename(marker)
        session.close()


@pytest.mark.mariadb
def test_a_server_that_is_gone_before_it_has_answered_is_started_again(
    mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Wire.query

    def query_late(wire: Wire, sql: str) -> list[tuple[Any, ...]]:
        while sql.startswith("SHOW ERRORS") and local.is_alive(leader.pid, born):
            time.sleep(0.01)
        return query(wire, sql)

    session = find(mariadb_url).connect(mariadb_url, allow_restart=True)
    assert isinstance(session, MariaDBSession)
    leader = session.leader()
    assert leader is not None
    born = local.born_at(leader.pid)
    monkeypatch.setattr(Wire, "query", query_late)
    try:
        restart.foreign(session, leader.pid)
        assert list(session.prepare(SUM).execute(10).rows()) != []
    finally:
        session.close()
