"""Sessions end with the command that opened them, by the server's own list and by its count of abandoned ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tare.dbms.registry import find
from tare.dbms.servers import RunningServer
from tare.dbms.url import parse
from tare.measure.rig import Rig
from tests.cli.running import tare
from tests.servers import own_server

SESSIONS = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
    "AND pid <> pg_backend_pid()",
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE command <> 'Daemon' "
    "AND id <> connection_id()",
}
ABANDONED = {
    "postgresql": "SELECT sum(sessions_abandoned)::int FROM pg_stat_database",
    "mariadb": "SELECT CAST(variable_value AS INTEGER) FROM information_schema.global_status "
    "WHERE variable_name = 'ABORTED_CLIENTS'",
}
"""Sessions whose client went away without ending them."""

SQL = "SELECT count(*) FROM information_schema.tables"
COMMANDS = (("time", SQL, "--runs", "2"), ("compare", SQL, f"{SQL} t", "--runs", "2"))
END_S = 5.0
"""Time for the server to end a session that its client has closed."""


@dataclass(frozen=True)
class Asked:
    """A server of its own, of which nobody else is a client."""

    server: RunningServer

    def number(self, queries: dict[str, str]) -> int:
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(queries[self.server.record.kind])
            return int(cursor.fetchone()[0])

    def _connect(self) -> Any:
        """A connection of DB-API 2 that is not Tare's own, which may open a second session."""
        if self.server.record.kind == "postgresql":
            return psycopg.connect(self.server.url)
        import mariadb

        return mariadb.connect(user="root", unix_socket=parse(self.server.url).parameters["socket"])

    def left(self) -> int:
        """Return the number of others' sessions, once those that end have ended."""
        until = time.monotonic() + END_S
        while (sessions := self.number(SESSIONS)) and time.monotonic() < until:
            time.sleep(0.05)
        return sessions


@pytest.fixture(scope="module", params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def asked(request: pytest.FixtureRequest) -> Iterator[Asked]:
    with own_server(request.param) as server:
        yield Asked(server)


def test_a_session_that_is_open_is_in_the_servers_list(asked: Asked) -> None:
    with closing(find(asked.server.url).connect(asked.server.url)):
        assert asked.number(SESSIONS) >= 1


def test_a_rig_that_is_closed_has_no_session_although_it_is_still_referred_to(asked: Asked) -> None:
    with Rig(lambda: find(asked.server.url).connect(asked.server.url)) as rig:
        rig.prepared(SQL)
    assert asked.left() == 0, rig


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_a_command_ends_its_sessions_itself(asked: Asked, words: tuple[str, ...]) -> None:
    before = asked.number(ABANDONED)
    done = tare(*words, "--db", asked.server.url)
    assert done.code == 0, done.err
    assert asked.left() == 0
    assert asked.number(ABANDONED) == before
