"""Tare's own work is done whatever the user's role, the set-up and `prepare` have set for the query's session."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from tare.dbms.registry import find
from tare.measure.choices import CacheState
from tare.measure.phases import Phases
from tare.protocol.cache import prove
from tests.dbms.test_setup import weigh

HINDRANCES = {
    "statement_timeout": "300ms",
    "lock_timeout": "1ms",
    "idle_session_timeout": "500ms",
    "idle_in_transaction_session_timeout": "500ms",
    "search_path": "nowhere",
    "row_security": "off",
    "client_encoding": "LATIN1",
    "DateStyle": "German",
    "IntervalStyle": "sql_standard",
    "bytea_output": "escape",
    "default_transaction_read_only": "on",
    "role": "pg_read_all_data",
}


@pytest.fixture
def hindered_url(postgresql15_url: str) -> Iterator[str]:
    """The server for a superuser whose role sets all that could be in the way."""
    with psycopg.connect(postgresql15_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_buffercache")
        connection.execute("CREATE ROLE hindered LOGIN SUPERUSER")
        for name, value in HINDRANCES.items():
            setting = sql.SQL("ALTER ROLE hindered SET {} = {}").format(
                sql.Identifier(name), sql.Literal(value)
            )
            connection.execute(setting)
    yield postgresql15_url.replace("user=postgres", "user=hindered")
    with psycopg.connect(postgresql15_url, autocommit=True) as connection:
        connection.execute("DROP ROLE hindered")


def test_a_role_that_sets_everything_is_weighed_cold(hindered_url: str) -> None:
    phases = Phases(prepare=("!sleep 1",))  # longer than the session may be idle
    sql = "SELECT count(*), pg_sleep(0.5) FROM public.numbers"
    qes = weigh(hindered_url, sql, phases, CacheState.COLD, warmup=0)
    assert [(qe.error, qe.row_count) for qe in qes] == [(None, 1)] * 2
    proof = prove(qes, CacheState.COLD)
    assert proof.reached, proof.evidence
    assert {qe.residence.buffer_how for qe in qes if qe.residence} == {"pg_buffercache"}


def test_what_set_up_sets_does_not_reach_tares_own_session(postgresql15_url: str) -> None:
    session = find(postgresql15_url).connect(postgresql15_url)
    try:
        session.run(
            "SET ROLE pg_monitor; SET search_path = nowhere; SET statement_timeout = 1; SET work_mem = 100"
        )
        session.flush()
        assert session.data_files()
        assert session.settings()["role"] == "pg_monitor"
        assert session.settings()["search_path"] == "nowhere"
    finally:
        session.close()


@pytest.mark.mariadb
def test_mariadbs_too(mariadb_url: str) -> None:
    session = find(mariadb_url).connect(mariadb_url, allow_writes=True)
    try:
        session.run(
            "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'; SET max_statement_time = 1"
        )
        session.run("CREATE ROLE IF NOT EXISTS nobody_special; SET ROLE nobody_special")
        session.flush()
        assert session.data_files()
        assert session.buffer_residency() is not None
    finally:
        session.run("SET ROLE NONE; DROP ROLE nobody_special")
        session.close()
