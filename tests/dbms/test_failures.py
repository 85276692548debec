"""Failures planted on real servers: each has the DBMS's own code, a next step that names the remedy, and its place."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import psycopg
import pytest

from tare.dbms.base import Session
from tare.dbms.postgresql.session import PostgreSQLSession
from tare.dbms.registry import find
from tare.errors import BadStatement, QueryTimeout, StatementFailed, TareError, WriteRefused
from tests.dbms.test_statements import SLOW

READS, WRITES = False, True


class Planted(NamedTuple):
    """`setup` runs first in the session, and in the server is undone by `cleanup`."""

    code: str
    remedy: str
    sql: str
    setup: str = ""
    cleanup: str = ""
    writes: bool = READS


INSERT = "INSERT INTO numbers VALUES (1, 0, 0, 'x')"

POSTGRESQL = (
    Planted("42601", "place", "SELEC 1"),
    Planted("42P01", "search_path", "SELECT * FROM nowhere"),
    Planted("42P01", "search_path", "SELECT * FROM numbers", "SET search_path = pg_catalog"),
    Planted("42703", r"\d TABLE", "SELECT nothing FROM numbers"),
    Planted("42883", "search_path", "SELECT nothing(1)"),
    Planted("42501", "SET ROLE", "SELECT * FROM pg_authid", "SET ROLE pg_monitor"),
    Planted("22P02", "data", "SELECT txt::int FROM numbers"),
    Planted("23505", "--conclude", INSERT, writes=WRITES),
    Planted("23503", "--conclude", "DELETE FROM one",
            "CREATE TABLE one (i int PRIMARY KEY); CREATE TABLE two (i int REFERENCES one); "
            "INSERT INTO one VALUES (1); INSERT INTO two VALUES (1)", "DROP TABLE two, one", WRITES),
    Planted("42P07", "DROP", "CREATE TABLE numbers AS SELECT 1", writes=WRITES),
    Planted("53400", "temp_file_limit", "SELECT txt FROM numbers ORDER BY val + random()",
            "SET temp_file_limit = '64kB'; SET work_mem = '64kB'"),
    Planted("25006", "--setup", INSERT, "SET default_transaction_read_only = on", writes=WRITES),
    Planted("P0001", "function", "SELECT complain()",
            "CREATE FUNCTION complain() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$",
            "DROP FUNCTION complain()", WRITES),
)  # fmt: skip

MARIADB = (
    Planted("1064", "place", "SELEC 1"),
    Planted("1146", "--db", "SELECT * FROM nowhere"),
    Planted("1054", "DESCRIBE", "SELECT nothing FROM numbers"),
    Planted("1305", "function", "SELECT nothing(1)"),
    Planted("1062", "--conclude", INSERT, writes=WRITES),
    Planted("1451", "--conclude", "DELETE FROM one",
            "CREATE TABLE one (i int PRIMARY KEY); CREATE TABLE two (i int, FOREIGN KEY (i) REFERENCES one (i)); "
            "INSERT INTO one VALUES (1); INSERT INTO two VALUES (1)", "DROP TABLE two, one", WRITES),
    Planted("1050", "DROP", "CREATE TABLE numbers (i int)", writes=WRITES),
)  # fmt: skip

SQLITE = (
    Planted("SQLITE_ERROR", ".schema", "SELEC 1"),
    Planted("SQLITE_ERROR", ".schema", "SELECT * FROM nowhere"),
    Planted("SQLITE_CONSTRAINT_PRIMARYKEY", "--conclude", INSERT, writes=WRITES),
)

DUCKDB = (
    Planted("ParserException", "place", "SELEC 1"),
    Planted("ParserException", "place", "SELECT * FROM query('SELECT 1 1')"),
    Planted("CatalogException", "SHOW TABLES", "SELECT * FROM nowhere"),
    Planted("CatalogException", "SHOW TABLES", 'SELECT * FROM "read-only"'),
    Planted("InvalidInputException", "--allow-writes", "SELECT strptime(txt, '%d') FROM numbers"),
    Planted("BinderException", "DESCRIBE", "SELECT nothing FROM numbers"),
    Planted("ConversionException", "TRY_CAST", "SELECT CAST(txt AS integer) FROM numbers"),
    Planted("ConstraintException", "--conclude", INSERT, writes=WRITES),
)

ALL = [
    pytest.param(name, planted, id=f"{name}-{planted.code}", marks=marks)
    for name, table, marks in (
        ("postgresql", POSTGRESQL, ()),
        ("postgresql15", POSTGRESQL, ()),
        ("mariadb", MARIADB, (pytest.mark.mariadb,)),
        ("sqlite", SQLITE, ()),
        ("duckdb", DUCKDB, ()),
    )
    for planted in table
]


def failure_of(session: Session, sql: str) -> TareError:
    with pytest.raises((StatementFailed, BadStatement)) as failed:
        session.prepare(sql).execute(10)
    return failed.value


@pytest.mark.parametrize(("name", "planted"), ALL)
def test_a_failure_has_its_code_and_names_the_remedy(
    name: str, planted: Planted, request: pytest.FixtureRequest
) -> None:
    url: str = request.getfixturevalue(f"{name}_url")
    session = find(url).connect(url, allow_writes=planted.writes)
    try:
        if planted.setup:
            session.run(planted.setup)
        error = failure_of(session, planted.sql)
    finally:
        if planted.cleanup:
            session.run(planted.cleanup)
        session.close()
    assert error.code == planted.code
    assert planted.remedy in error.next_step, error.next_step


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("CREATE TABLE made (i int)", WriteRefused),
        ("SET threads = 1; ALTER TABLE numbers ADD COLUMN made int", WriteRefused),
        ('CREATE TEMP TABLE made AS SELECT * FROM "read-only"', StatementFailed),
        ("SELECT strptime(txt, '%d') FROM numbers", StatementFailed),
    ],
)
def test_duckdb_refuses_a_change_by_kind_of_statement_and_exception_not_by_words(
    sql: str, error: type[TareError], duckdb_url: str
) -> None:
    session = find(duckdb_url).connect(duckdb_url)
    try:
        with pytest.raises(TareError) as failed:
            session.run(sql)
    finally:
        session.close()
    assert type(failed.value) is error


@pytest.mark.parametrize("before", ["", "-- one line\n\n/* and\nanother */ ", "\t"])
def test_a_syntax_error_has_its_place(session: Session, before: str) -> None:
    sql = f"{before}SELECT id, 'ä≥🙂'\nFROM numbers\nWHERE id = 5 ORDDER BY {'id, ' * 30} txt"
    error = failure_of(session, sql)
    assert isinstance(error, StatementFailed)
    assert error.offset == sql.index("ORDDER")
    assert not error.may_pass


def test_a_failure_behind_the_first_statement_of_a_script_is_found(session: Session) -> None:
    script = "SELECT 1;\nSELECT nothing FROM nowhere; SELECT 2"
    with pytest.raises(StatementFailed, match=r"nowhere|nothing"):
        session.run(script)
    session.run("SELECT 1; SELECT 2")


def test_what_violates_a_key_does_not_pass_the_second_time(writing: Session) -> None:
    error = failure_of(writing, INSERT)
    assert isinstance(error, StatementFailed)
    assert not error.may_pass


# What others and settings do to a statement -------------------------------------------------
@pytest.fixture(params=["postgresql", "postgresql15"])
def postgresql(request: pytest.FixtureRequest) -> Iterator[PostgreSQLSession]:
    url: str = request.getfixturevalue(f"{request.param}_url")
    session = find(url).connect(url)
    assert isinstance(session, PostgreSQLSession)
    yield session
    session.close()


def test_a_lock_that_is_not_had_in_time_names_the_setting(postgresql: PostgreSQLSession) -> None:
    postgresql.run("SET lock_timeout = '20ms'")
    prepared = postgresql.prepare("SELECT count(*) FROM numbers")
    with psycopg.connect(postgresql.server.url) as other:
        other.execute("LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StatementFailed) as failed:
            prepared.execute(10)
    assert failed.value.code == "55P03"
    assert failed.value.may_pass
    assert "SET lock_timeout" in failed.value.next_step


@pytest.mark.parametrize("timeout_s", [None, 60])
def test_a_statement_that_another_session_cancels_is_no_time_out(
    postgresql: PostgreSQLSession, timeout_s: float | None
) -> None:
    leader = postgresql.leader()
    assert leader is not None
    prepared = postgresql.prepare(SLOW)
    cancelling = threading.Thread(target=cancel_when_active, args=(postgresql.server.url, leader.pid))
    cancelling.start()
    with pytest.raises(StatementFailed) as failed:
        prepared.execute(timeout_s)
    cancelling.join()
    assert failed.value.code == "57014"
    assert "pg_cancel_backend" in failed.value.next_step


def cancel_when_active(url: str, pid: int) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        cancel = (
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
            "WHERE pid = %s AND state = 'active' AND query LIKE '%%a.val + b.val%%'"
        )
        until = time.monotonic() + 30
        while not other.execute(cancel, [pid]).fetchall() and time.monotonic() < until:
            time.sleep(0.01)


def test_a_limit_that_set_up_sets_does_not_end_a_query(postgresql: PostgreSQLSession) -> None:
    postgresql.run("SET statement_timeout = '10ms'")
    assert postgresql.prepare("SELECT pg_sleep(0.1)").execute(None).row_count == 1
    with pytest.raises(QueryTimeout, match="--timeout"):
        postgresql.prepare("SELECT pg_sleep(5)").execute(0.05)


@pytest.mark.mariadb
def test_mariadb_names_what_locks_and_who_kills(mariadb_url: str) -> None:
    session, other = (find(mariadb_url).connect(mariadb_url, allow_writes=True) for _ in range(2))
    try:
        session.run("SET innodb_lock_wait_timeout = 1")
        other.run("BEGIN; UPDATE numbers SET val = val WHERE id = 1")
        error = failure_of(session, "UPDATE numbers SET val = val WHERE id = 1")
        assert (error.code, "innodb_lock_wait_timeout" in error.next_step) == ("1205", True)
        other.run("ROLLBACK")
        prepared = session.prepare(SLOW)
        (number,) = next(iter(session.prepare("SELECT connection_id()").execute(5).rows()))
        killing = threading.Thread(target=kill_when_active, args=(other, number))
        killing.start()
        with pytest.raises(StatementFailed) as failed:
            prepared.execute(60)
        killing.join()
        assert failed.value.code == "1317"
        assert "KILL QUERY" in failed.value.next_step
    finally:
        session.close()
        other.close()


def kill_when_active(other: Session, number: object) -> None:
    active = other.prepare(
        f"SELECT 1 FROM information_schema.processlist WHERE id = {number} AND info LIKE '%a.val + b.val%'"
    )
    until = time.monotonic() + 30
    while not active.execute(5).row_count and time.monotonic() < until:
        time.sleep(0.01)
    other.run(f"KILL QUERY {number}")


@pytest.mark.mariadb
def test_mariadbs_limits_and_rights_of_a_user(mariadb_url: str) -> None:
    root = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    limited = mariadb_url.replace("root@", "limited@")
    try:
        root.run(
            "CREATE USER limited@localhost WITH MAX_STATEMENT_TIME 0.01; "
            "GRANT SELECT (id) ON tare.numbers TO limited@localhost"
        )
        session = find(limited).connect(limited)
        try:  # the limit of the account does not reach a run
            assert session.prepare("SELECT sleep(0.1) FROM numbers LIMIT 1").execute(None).row_count == 1
            for code, sql in (("1143", "SELECT val FROM numbers"), ("1142", "SELECT * FROM mysql.user")):
                error = failure_of(session, sql)
                assert (error.code, "GRANT" in error.next_step) == (code, True)
        finally:
            session.close()
    finally:
        root.run("DROP USER limited@localhost")
        root.close()
