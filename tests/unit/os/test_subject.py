"""Subject of a watch: a server without the process that answered Tare's own session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from tare.dbms import local
from tare.dbms.base import Leader, Session
from tare.dbms.local import Life
from tare.os.level import Level
from tare.os.proc import ProcReader
from tare.os.subject import of_server
from tare.os.watch import observe
from tests.unit.os.doubles import FakeSession

PARENT = """
import subprocess, sys
children = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
print(*(child.pid for child in children), flush=True)
for line in sys.stdin:
    children[0].wait()
    print("reaped", flush=True)
for child in children:
    child.kill()
    child.wait()
"""


class Server:
    """A process with two children, of which the first one answers Tare. It takes notice of its end when told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        self.pid = process.pid
        self.own, self.other = map(int, process.stdout.readline().split())

    def reap(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        self._process.stdout.readline()

    def kill_own(self) -> None:
        """End the first child, which stays a zombie."""
        subprocess.run(["kill", "-9", str(self.own)], check=True, timeout=60)
        born = local.born_at(self.own)
        while local.is_alive(self.own, born):
            pass

    def session(self) -> Session:
        return cast("Session", OwnProcess(self))


class OwnProcess(FakeSession):
    def __init__(self, server: Server) -> None:
        super().__init__(server.own, lambda sql: None)
        self._server = server

    def leader(self) -> Leader:
        return Leader(self._server.own, self._server.own, "", whole_process=False)

    def worker_parents(self, leader: Leader) -> Sequence[int]:
        return (self._server.pid,)


@pytest.fixture
def server() -> Iterator[Server]:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Server(process)
        assert process.stdin is not None
        process.stdin.close()


def processes(reader: ProcReader) -> set[int]:
    return {thread.tgid for thread in reader.read().threads}


def test_the_process_of_tares_session_is_left_out_as_long_as_it_lives(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.os.subject._LEAVES_WITHIN_S", 0.0)
    subject = of_server(server.session())
    (node,) = subject.nodes
    assert node.processes == (server.pid, server.other)
    assert processes(ProcReader(subject.processes, subject.own)) == {server.pid, server.other}
    (window,) = observe(subject, Level.PROC, 0.0).windows
    assert window.total().threads == 2


def test_the_process_is_waited_for_until_its_parent_took_notice(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.kill_own()
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            server.reap()

    monkeypatch.setattr("tare.os.subject.time.sleep", sleep)
    monkeypatch.setattr("tare.os.subject._LEAVES_WITHIN_S", 60.0)
    of_server(server.session())
    assert len(pauses) == 3
    assert local.parent_of(server.own) is None


def test_a_process_that_has_ended_is_none_of_a_node(server: Server) -> None:
    reader = ProcReader([[server.pid]])
    server.kill_own()
    assert local.parent_of(server.own) == server.pid
    assert processes(reader) == {server.pid, server.other}


def test_a_process_that_was_left_out_may_leave_its_id_to_another(server: Server) -> None:
    """An id that is used again is not the process of Tare's session any more."""
    reader = ProcReader([[server.pid]], Life(server.own, (local.born_at(server.own) or 0) - 1))
    assert processes(reader) == {server.pid, server.own, server.other}
