"""A load that stops is continued by the next one, and no row differs from those of a load that never stopped."""

from __future__ import annotations

import hashlib
import random
import time
from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tests.cli.running import Said
from tests.crash.oltp_runs import Database, flat, new_database, oltp, until_true, watched, words_of

SCALE = ("--scale", "0.3")
TABLES = ("subscriber", "access_info", "special_facility", "call_forwarding")
NO_SUCH_THREAD = 1094
_OTHERS = {
    "postgresql": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()",
}


def content(database: Database) -> dict[str, tuple[int, str]]:
    """Rows of each table, by number and digest."""
    found = {}
    with closing(database.connect()) as connection:
        for table in TABLES:
            cursor = connection.cursor()
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
            rows = cursor.fetchall()
            found[table] = len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()
    return found


def indexes(database: Database) -> int:
    here = {
        "postgresql": "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema()",
        "mariadb": "SELECT count(DISTINCT table_name, index_name) FROM information_schema.statistics "
        "WHERE table_schema = database()",
    }
    return database.number(here[database.dbms])


def end_sessions(database: Database) -> None:
    """As a server that goes away does."""
    if database.dbms == "postgresql":
        database.run(_OTHERS["postgresql"])
        return
    with closing(database.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute(_OTHERS["mariadb"])
        for (number,) in cursor.fetchall():
            try:
                cursor.execute(f"KILL {number}")
            except connection.OperationalError as error:  # it ended by itself
                if error.errno != NO_SUCH_THREAD:
                    raise


def load(database: Database, *more: str) -> Said:
    return oltp("load", "tatp", *SCALE, "--db", database.url, *more)


def has_parts(database: Database) -> bool:
    here = {"postgresql": "current_schema()", "mariadb": "database()"}[database.dbms]
    named = f"table_name = 'tare_oltp_parts' AND table_schema = {here}"
    if not database.number(f"SELECT count(*) FROM information_schema.tables WHERE {named}"):
        return False
    return database.number("SELECT count(*) FROM tare_oltp_parts") > 0


@pytest.fixture(scope="module")
def whole(oltp_server: RunningServer) -> tuple[dict[str, tuple[int, str]], int]:
    """Content and number of indexes of a load that never stopped."""
    database = new_database(oltp_server)
    done = load(database)
    assert done.code == 0, done.err
    assert "continued" not in done.out
    return content(database), indexes(database)


def test_a_load_that_is_killed_again_and_again_comes_to_the_same_rows(
    empty: Database, lab: Path, whole: tuple[dict[str, tuple[int, str]], int]
) -> None:
    chance = random.Random(7)
    kills = 0
    while kills < 6:
        with watched(["load", "tatp", *SCALE, "--db", empty.url]) as run:
            deadline = time.monotonic() + chance.uniform(0.1, 1.5)
            while time.monotonic() < deadline and run.process.poll() is None:
                time.sleep(0.01)
            if run.process.poll() is not None:
                break
            run.process.kill()
            kills += 1
        refused = oltp(*words_of(empty, lab))
        assert refused.code == 2
    if kills == 6:
        done = load(empty)
        assert done.code == 0, done.err
    assert kills, "it was killed at least once"
    assert (content(empty), indexes(empty)) == whole
    checked = oltp("check", "tatp", "--db", empty.url)
    assert checked.code == 0, checked.out


def test_a_load_whose_connections_are_lost_keeps_what_it_has_and_is_continued(
    empty: Database, lab: Path, whole: tuple[dict[str, tuple[int, str]], int]
) -> None:
    with watched(["load", "tatp", *SCALE, "--db", empty.url]) as run:
        until_true(lambda: has_parts(empty), 30)
        end_sessions(empty)
        lost = run.ended()
    assert lost.code == 1, lost.out
    assert "what is loaded stays" in flat(lost.err)
    refused = oltp(*words_of(empty, lab))
    assert refused.code == 2
    assert "was interrupted" in refused.err
    assert "it continues where it stopped" in flat(refused.err)

    other = oltp("load", "tatp", "--scale", "0.2", "--seed", "9", "--db", empty.url)
    assert other.code == 2
    assert "it is of scale 0.3, not 0.2; seed 1, not 9" in flat(other.err)

    done = load(empty)
    assert done.code == 0, done.err
    rows = sum(count for count, _ in whole[0].values())
    assert "continued an interrupted load of" in done.out
    assert f"the DBMS counts {rows:,} rows in all" in flat(done.out)
    assert (content(empty), indexes(empty)) == whole


def test_another_load_drops_an_interrupted_one_only_if_told_to(empty: Database) -> None:
    with watched(["load", "tatp", *SCALE, "--db", empty.url]) as run:
        until_true(lambda: has_parts(empty), 30)
        run.process.kill()
    done = oltp("load", "tatp", "--scale", "0.01", "--db", empty.url, "--replace")
    assert done.code == 0, done.err
    assert empty.number("SELECT count(*) FROM subscriber") == 1000
