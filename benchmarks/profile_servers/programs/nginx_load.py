"""Clients of an nginx: files over kept connections, beside requests that fail in every way there is and reloads.

`python -m … ENDS SOCKET FOLDER PID`: the folder that is served, and the master process.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks.profile_servers.programs.work import Connection, Gone, Work, main

FILES = 16
LARGE = "large"
LARGE_BYTES = 8 << 20
TURNS = 100
"""Turns of failures for each reload of the configuration."""

STATUSES = (
    (b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    (b"POST /0 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 405),
    (b"GARBAGE\r\n\r\n", 400),
    (b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (b"POST /0 HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
    (b"GET /0 HTTP/1.1\r\nHost: a\r\nRange: bytes=999999-\r\n\r\n", 416),
    (b"GET /0 HTTP/9.9\r\nHost: a\r\n\r\n", 505),
)
"""Requests with the status of the answer that each is due."""


class WrongStatus(Exception):
    pass


class Client(Connection):
    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer. Raises Gone."""
        try:
            self._socket.sendall(request)
            first = self._stream.readline()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone from error
        if not first:
            raise Gone
        length = 0
        while (line := self._stream.readline().strip().lower()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name == b"content-length" else length
        return int(first.split()[1]), self._stream.read(length)

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)


def content(name: str) -> bytes:
    return name.encode() * 200


def fetch(work: Work, path: str, number: int) -> None:
    client = Client(path)
    name = number
    try:
        while work.goes_on():
            name = (name + 1) % FILES
            try:
                status, body = client.ask(f"GET /{name} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            except Gone:  # a worker that goes closes the connections that it keeps
                work.count("connected again")
                client.close()
                client = Client(path)
                continue
            if (status, body) != (200, content(str(name))):
                raise WrongStatus(f"/{name}: {status} with {len(body)} bytes")
            work.ended("committed")
    finally:
        client.close()


def fail(work: Work, path: str, master: int) -> None:
    turn = 0
    while work.goes_on():
        turn += 1
        for request, due in STATUSES:
            work.expect(WrongStatus, partial(_refused, path, request, due))
        _disconnected(path)
        work.count("disconnected")
        if turn % TURNS == 0:
            os.kill(master, signal.SIGHUP)
            work.count("reloaded")
        time.sleep(0.02)


def _refused(path: str, request: bytes, due: int) -> None:
    with Client(path) as client:
        status, _ = client.ask(request)
    if status != due:
        raise ValueError(f"{request[:20]!r}: status {status}, not {due}")
    raise WrongStatus


def _disconnected(path: str) -> None:
    """Disconnect a client in the middle of its request, and another while it is sent a large file."""
    with Client(path) as client:
        client.send(b"GET /0 HTTP/1.1\r\nHo")
    with Client(path) as client:
        client.send(f"GET /{LARGE} HTTP/1.1\r\nHost: a\r\n\r\n".encode())


def run(work: Work) -> list[str]:
    path, folder, master = sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    for number in range(FILES):
        (folder / str(number)).write_bytes(content(str(number)))
    (folder / LARGE).write_bytes(bytes(LARGE_BYTES))
    work.together(*(partial(fetch, work, path, one) for one in (0, 7)), partial(fail, work, path, master))
    with Client(path) as client:
        status, body = client.ask(f"GET /{LARGE} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return work.checked(status=(status, 200), length=(len(body), LARGE_BYTES))


if __name__ == "__main__":
    main(run)
