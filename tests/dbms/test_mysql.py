"""MySQL 5.6, which names no thread of a connection and has no time-out of its own."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tare.dbms.mariadb.session import MariaDBSession
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, daemon, start_mysql
from tare.errors import StatementFailed, UsageError
from tare.measure.rig import Rig

pytestmark = pytest.mark.mariadb

STACK_BYTES = 1 << 20  # more than a thread of the server has
FORSAKEN_WITHIN_S = 60.0
LATER_ENDS = 40  # by then a session has ended if it ever does


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, free_port: int) -> Iterator[RunningServer]:
    """Server with a directory and a port, which has been stopped and started again."""
    folder = tmp_path_factory.mktemp("mysql")
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(path.stat().st_mode | 0o011)  # root's servers run as an ordinary user
    with start_mysql(folder / "server", port=free_port, settings={"max_connections": "40"}) as first:
        session = opened(first.url, allow_writes=True)
        session.run("CREATE TABLE kept (id integer); INSERT INTO kept VALUES (7)")
        session.close()
    with start_mysql(folder / "server") as again:
        yield again


def opened(url: str, *, allow_writes: bool = False) -> MariaDBSession:
    session = find(url).connect(url, allow_writes=allow_writes)
    assert isinstance(session, MariaDBSession)
    return session


def test_data_and_settings_outlive_a_stop(server: RunningServer) -> None:
    session = opened(server.url)
    assert session.value("SELECT id FROM kept") == 7
    assert session.value("SELECT @@max_connections") == 40
    session.close()


def test_only_root_of_this_machine_has_an_account(server: RunningServer) -> None:
    session = opened(server.url)
    accounts = set(session._wire.query("SELECT user, host FROM mysql.user"))
    session.close()
    assert accounts == {("root", "localhost"), ("root", "127.0.0.1")}
    assert server.directory.stat().st_mode & 0o077 == 0
    assert Path(f"/proc/{server.pid}").stat().st_uid != 0


def test_the_process_is_found_through_a_port(server: RunningServer) -> None:
    assert "127.0.0.1" in server.url
    session = opened(server.url)
    leader = session.leader()
    session.close()
    assert leader is not None
    assert leader.pid == server.pid


def stack_of(session: MariaDBSession) -> int:
    """Address of the thread's own data, above its stack, as the server reports it for an open transaction."""
    session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    ((_, _, text),) = session._wire.query("SHOW ENGINE INNODB STATUS")
    session.run("COMMIT")
    (handle,) = re.findall(rf"MySQL thread id {session._wire.id}, OS thread handle (0x[0-9a-f]+)", text)
    return int(handle, 16)


def stack_pointer(pid: int, tid: int) -> int:
    """Stack pointer of a thread that waits in a system call."""
    while len(fields := Path(f"/proc/{pid}/task/{tid}/syscall").read_text().split()) < 3:
        pass
    return int(fields[-2], 16)


def test_the_thread_is_the_connections_beside_busy_ones_and_after_a_reconnect(mysql_url: str) -> None:
    done = threading.Event()

    def work(busy: MariaDBSession) -> None:
        while not done.is_set():
            busy.run("DO BENCHMARK(200000, 1 + 1)")

    with ExitStack() as stack:
        sessions = [opened(mysql_url) for _ in range(3)]
        session, *neighbours = sessions
        threads = [threading.Thread(target=work, args=(busy,)) for busy in neighbours]
        for busy in sessions:
            stack.callback(busy.close)
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
        stack.callback(done.set)
        for _ in range(3):
            leader = session.leader()
            assert leader is not None, session.no_leader
            assert 0 < stack_of(session) - stack_pointer(leader.pid, leader.tid) < STACK_BYTES
            session.reconnect()


def forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def test_a_thread_behind_a_proxy_is_refused_with_the_reason(mysql_url: str, tmp_path: Path) -> None:
    path = str(tmp_path / "proxy.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(mysql_url.partition("socket=")[2])
                    for pair in ((client, server), (server, client)):
                        threading.Thread(target=forward, args=pair, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        url = f"{mysql_url.partition('socket=')[0]}socket={path}"
        with pytest.raises(UsageError, match=r"other end of the connection is .* no server of MySQL"):
            Rig(lambda: find(url).connect(url))
        listener.shutdown(socket.SHUT_RDWR)


def end_sessions_until_one_is_forsaken(server: RunningServer) -> None:
    """End sessions that run statements, while others begin, until the thread of one sleeps on."""
    import mariadb

    begun: set[int] = set()
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            with suppress(mariadb.Error), closing(connection(server)) as client, client.cursor() as cursor:
                begun.add(client.connection_id)
                while not done.is_set():
                    cursor.execute("DO 1")

    clients = [threading.Thread(target=work) for _ in range(4)]
    ended: dict[int, int] = {}  # by session, in the order of their ends
    forsaken: set[int] = set()
    until = time.monotonic() + FORSAKEN_WITHIN_S
    with ExitStack() as stack:
        for client in clients:
            client.start()
            stack.callback(client.join)
        stack.callback(done.set)
        cursor = stack.enter_context(closing(connection(server))).cursor()
        while not forsaken and time.monotonic() < until:
            for session in list(begun):
                begun.discard(session)
                with suppress(mariadb.OperationalError):  # it has ended itself
                    cursor.execute(f"KILL {session}")
                    ended[session] = len(ended)
            cursor.execute("SHOW PROCESSLIST")
            killed = {row[0] for row in cursor if row[4] == "Killed"}
            forsaken = {one for one in killed if len(ended) - ended.get(one, len(ended)) > LATER_ENDS}
    assert forsaken, f"the threads of all {len(ended)} sessions ended"


def connection(server: RunningServer) -> Any:
    """Connection that does not learn of its end before it sends a statement."""
    import mariadb

    return mariadb.connect(user="root", unix_socket=str(daemon.socket_file(server.record)))


def test_a_statement_of_a_later_version_is_refused_by_the_server(mysql_url: str) -> None:
    session = opened(mysql_url)
    with pytest.raises(StatementFailed, match="1064"):
        session.prepare("WITH a AS (SELECT 1) SELECT * FROM a")
    with pytest.raises(StatementFailed, match="1295") as refused:
        session.prepare("LOAD DATA INFILE '/nothing' INTO TABLE numbers")
    assert "--prepare" in refused.value.next_step
    session.close()


def test_a_stop_ends_the_threads_that_a_kill_left_asleep(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last test of this server."""
    monkeypatch.setattr(daemon, "STOP_S", 30.0)
    stops = server.record.log.read_text().count("Shutdown complete\n")
    try:
        end_sessions_until_one_is_forsaken(server)
        server.stop()
        assert server.record.log.read_text().count("Shutdown complete\n") == stops + 1
    finally:
        daemon.kill(server.record)
