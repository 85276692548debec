"""Clients of a Redis: increments in transactions, beside commands that fail in every way there is.

`python -m … ENDS SOCKET`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.profile_servers.programs.work import Connection, Gone, Work, main

ROWS = 20_000
"""Elements of the list whose answer no socket holds."""

TURNS = 40
"""Turns of failures for each save of the data by a child."""


class Refused(Exception):
    """An error that the server answered."""


class Client(Connection):
    """A connection. Answers are bytes, numbers, lists or None."""

    def send(self, *commands: str) -> None:
        self.send_bytes(b"".join(_encoded(command.split(" ")) for command in commands))

    def send_bytes(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone from error

    def ask(self, *commands: str) -> Any:
        """Answer to the last of the commands, which are sent together. Raises Refused and Gone."""
        self.send(*commands)
        answers = [self.answer() for _ in commands]
        return answers[-1]

    def answer(self) -> Any:
        try:
            line = self._stream.readline()
        except ConnectionResetError as error:
            raise Gone from error
        if not line.endswith(b"\r\n"):
            raise Gone
        kind, text = line[:1], line[1:-2]
        match kind:
            case b"-":
                raise Refused(text.decode())
            case b":":
                return int(text)
            case b"$":
                return None if text == b"-1" else self._stream.read(int(text) + 2)[:-2]
            case b"*":
                return None if text == b"-1" else [self.answer() for _ in range(int(text))]
        return text


def _encoded(words: list[str]) -> bytes:
    parts = (f"${len(word)}\r\n{word}\r\n" for word in words)
    return (f"*{len(words)}\r\n" + "".join(parts)).encode()


def increment(work: Work, path: str, number: int) -> None:
    with Client(path) as client:
        while work.goes_on():
            client.ask("MULTI", f"INCR ledger:{number}", f"INCRBY balance {number}", "EXEC")
            work.ended("committed")


def fail(work: Work, path: str) -> None:
    turn = 0
    while work.goes_on():
        turn += 1
        with Client(path) as client:
            for error, act in failures(client, path):
                work.expect(error, act)
            if turn % TURNS == 1:
                work.expect_or(Refused, partial(client.ask, "BGSAVE"))
        time.sleep(0.02)


def failures(client: Client, path: str) -> tuple[tuple[type[Exception], Callable[[], object]], ...]:
    return (
        (Refused, partial(client.ask, "LPUSH balance 1")),
        (Refused, partial(client.ask, "NOTHING balance")),
        (Refused, partial(client.ask, "SETRANGE text 536870912 x")),
        (Refused, partial(client.ask, "EVAL error('x') 0")),
        (Refused, partial(client.ask, "MULTI", "INCRBY balance", "EXEC")),
        (Refused, partial(client.ask, "DISCARD", "EXEC")),
        (Refused, partial(_unblocked, path)),
        (Gone, partial(_ended, path)),
        (Gone, partial(_broken, path)),
        (Gone, partial(_disconnected, path)),
    )


def _unblocked(path: str) -> None:
    """A client that waits is sent away with an error."""
    with Client(path) as waiting, Client(path) as other:
        number = waiting.ask("CLIENT ID")
        waiting.send("BLPOP nothing 30")
        while not other.ask(f"CLIENT UNBLOCK {number} ERROR"):
            time.sleep(0.001)
        waiting.answer()


def _ended(path: str) -> None:
    """Another client ends the connection in the middle of a transaction."""
    with Client(path) as victim, Client(path) as other:
        number = victim.ask("CLIENT ID")
        victim.ask("MULTI", "INCRBY balance 1000000")
        other.ask(f"CLIENT KILL ID {number}")
        victim.ask("EXEC")


def _broken(path: str) -> None:
    with Client(path) as client:
        client.send_bytes(b"*1\r\n$-5\r\n")
        try:
            client.answer()
        except Refused:
            client.answer()


def _disconnected(path: str) -> None:
    """The client goes while it is sent rows."""
    with Client(path) as client:
        client.send(*["LRANGE rows 0 -1"] * 4)
    raise Gone


def run(work: Work) -> list[str]:
    path = sys.argv[2]
    with Client(path) as client:
        for start in range(0, ROWS, 1000):
            rows = " ".join(f"row-{number:012}" for number in range(start, start + 1000))
            client.ask(f"RPUSH rows {rows}")
        work.together(*(partial(increment, work, path, one) for one in (1, 2)), partial(fail, work, path))
        ledger = [int(client.ask(f"GET ledger:{number}")) for number in (1, 2)]
        balance, rows = int(client.ask("GET balance")), client.ask("LLEN rows")
    return work.checked(
        ledger=(sum(ledger), work.counts["committed"]),
        balance=(balance, ledger[0] + 2 * ledger[1]),
        rows=(rows, ROWS),
    )


if __name__ == "__main__":
    main(run)
