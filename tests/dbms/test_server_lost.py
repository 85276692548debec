"""A server that is killed while a query runs."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tare.dbms import local
from tare.dbms.embedded import client
from tare.dbms.mariadb import wire as mariadb_wire
from tare.dbms.postgresql import session as postgresql_session
from tare.dbms.postgresql import wire as postgresql_wire
from tare.dbms.registry import find
from tare.errors import QueryTimeout, ServerLost
from tests.dbms.test_statements import SLOW
from tests.servers import fill_server, own_server, wait_until_it_is_back


@pytest.fixture(
    scope="module",
    params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb), "sqlite", "duckdb"],
)
def own_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that may be stopped for a moment, and killed: by the last test."""
    if request.param in ("sqlite", "duckdb"):
        yield request.getfixturevalue(f"{request.param}_url")
        return
    with own_server(request.param) as server:
        fill_server(server.url)
        yield server.url


def test_ctrl_c_stops_the_query_and_leaves_the_session_usable(own_url: str) -> None:
    session = find(own_url).connect(own_url)
    prepared = session.prepare(SLOW)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        prepared.execute(60)
    assert time.monotonic() - began < 5
    timer.join()
    assert list(session.prepare("SELECT count(*) FROM numbers").execute(5).rows()) == [(20_000,)]
    session.close()


def test_a_server_that_no_longer_answers_is_given_up_soon_after_the_time_out(
    own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped, not killed: neither the server's own time-out nor a cancel request helps."""
    for module in (postgresql_wire, mariadb_wire):
        monkeypatch.setattr(module, "GRACE_S", 0.5)
        monkeypatch.setattr(module, "CANCEL_S", 0.5)
    monkeypatch.setattr(client, "CANCEL_S", 0.5)
    session = find(own_url).connect(own_url, timeout_s=1)
    leader = session.leader()
    assert leader is not None
    prepared = session.prepare(SLOW)
    os.kill(leader.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(QueryTimeout, match=r"0\.3 s"):
            prepared.execute(0.3)
        assert time.monotonic() - began < 6
    finally:
        with suppress(ProcessLookupError):
            os.kill(leader.pid, signal.SIGCONT)
        session.close()


def test_ctrl_c_leaves_a_server_that_no_longer_answers(own_url: str) -> None:
    session = find(own_url).connect(own_url, timeout_s=1)
    leader = session.leader()
    assert leader is not None
    prepared = session.prepare(SLOW)
    os.kill(leader.pid, signal.SIGSTOP)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            prepared.execute(60)
        assert time.monotonic() - began < 5
    finally:
        with suppress(ProcessLookupError):
            os.kill(leader.pid, signal.SIGCONT)
        session.close()
        timer.join()


def test_a_server_that_stops_answering_between_queries_is_lost(
    own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a time-out: our own EXPLAIN would else wait for ever."""
    for module in (postgresql_wire, mariadb_wire, client):
        monkeypatch.setattr(module, "OWN_S", 0.5)
        monkeypatch.setattr(module, "CANCEL_S", 0.5)
    session = find(own_url).connect(own_url, timeout_s=1)
    leader = session.leader()
    assert leader is not None
    os.kill(leader.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(ServerLost, match=r"0\.5 s"):
            session.explain("SELECT 1")
        with pytest.raises(ServerLost):
            session.explain("SELECT 1")
        assert time.monotonic() - began < 6
    finally:
        with suppress(ProcessLookupError):
            os.kill(leader.pid, signal.SIGCONT)
        session.close()


def test_a_process_killed_in_mid_run_is_a_lost_server(own_url: str) -> None:
    session = find(own_url).connect(own_url)
    leader = session.leader()
    assert leader is not None
    prepared = session.prepare(SLOW)
    killer = threading.Timer(0.4, os.kill, (leader.pid, signal.SIGKILL))
    killer.start()
    began = time.monotonic()
    with pytest.raises(ServerLost, match="next:"):
        prepared.execute(60)
    assert time.monotonic() - began < 10
    killer.join()
    with pytest.raises(ServerLost):
        session.prepare("SELECT 1").execute(5)
    session.close()
    if own_url.startswith("postgresql"):
        wait_until_it_is_back(own_url)


def test_a_backend_ends_its_query_when_we_are_gone(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends without a word, as after `kill -9`."""
    monkeypatch.setattr(postgresql_session, "CLIENT_CHECK_S", 1)
    session = find(postgresql_url).connect(postgresql_url)
    leader = session.leader()
    assert leader is not None
    prepared = session.prepare(SLOW)
    assert isinstance(session, postgresql_session.PostgreSQLSession)
    line = socket.socket(fileno=os.dup(session._wire.connection.fileno()))
    cut = threading.Timer(0.3, line.shutdown, (socket.SHUT_RDWR,))
    cut.start()
    with pytest.raises(ServerLost):
        prepared.execute(60)
    cut.join()
    line.close()
    deadline = time.monotonic() + 5
    while local.command_line(leader.pid) and "postgres" in local.command_name(leader.pid):
        assert time.monotonic() < deadline, "the backend still runs 5 s after"
        time.sleep(0.05)
    session.close()
