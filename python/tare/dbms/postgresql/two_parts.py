"""A statement sent in two parts, so that the client sees where planning ends and execution begins.

The extended protocol has a message for each phase: the server parses in Parse, plans and starts the executor in Bind,
and runs in Execute. libpq sends them all at once. Here Parse, Bind and Flush go first; the server answers that it has
planned; then Execute and Sync follow. Against one message this costs one more round trip, some ten microseconds.

libpq receives every answer, in C as for any other client. It has to believe that the query is its own: it sends one
into a socket that nobody reads, which stands in the place of its own for that moment. Answers of the first part are
only looked at (MSG_PEEK) and left for it. This is possible on a plain connection only: bytes that an encrypted one
sends are counted.
"""

from __future__ import annotations

import math
import os
import select
import socket
import struct
import time

from psycopg.pq.abc import PGconn

from tare.dbms.planned import Planned, planned_by

_PEEKED_BYTES = 1 << 16
_ROOM_S = 1.0  # for a few bytes there is always room in a socket
_NOTICE_PAUSE_S = (
    0.000_05  # between two looks at answers that have begun and not reached the one that is awaited
)

_BIND_COMPLETE, _ERROR = b"2E"


class DeadlinePassed(Exception):
    """The client's own limit, which is past the server's."""


class TwoParts:
    """Sends on the plain connection of `pgconn`, which uses the same socket."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        self._sink, self._drain = socket.socketpair()

    def close(self) -> None:
        self._sink.close()
        self._drain.close()

    def send(self, sql: bytes, deadline: float | None, pid: int) -> Planned | None:
        """Sends the whole statement and returns the clocks after planning, by process `pid`; libpq then awaits the
        result.

        Returns None if the server refused the statement, or did not show when it had planned it. Raises
        DeadlinePassed, with a connection that a cancel request makes usable again, or closed."""
        # libpq has made it non-blocking; closed again at once, so that the server sees when libpq closes its own
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=os.dup(self._pgconn.socket))
        with line:
            try:
                _send(line, _message(b"P", b"\0" + sql + b"\0\0\0") + _BIND + _FLUSH, deadline)
                self._expect(line)
            except BaseException:  # a message may have been sent in part
                self._pgconn.finish()
                raise
            try:
                answer = _first_answer(line, deadline)
            except BaseException:
                _send(line, _SYNC, time.monotonic() + _ROOM_S)
                raise
            planned = planned_by(pid) if answer == _BIND_COMPLETE else None
            _send(line, _SYNC if answer == _ERROR else _EXECUTE + _SYNC, time.monotonic() + _ROOM_S)
        return planned

    def _expect(self, line: socket.socket) -> None:
        """Lets libpq send a query of the same kind to nobody, so that it awaits what ours returns."""
        own = self._pgconn.socket
        os.dup2(self._sink.fileno(), own, inheritable=False)
        try:
            self._pgconn.send_query_prepared(b"", [])
        finally:
            os.dup2(line.fileno(), own, inheritable=False)
        self._drain.recv(_PEEKED_BYTES)


def _send(line: socket.socket, data: bytes, deadline: float | None) -> None:
    left = memoryview(data)
    while True:
        try:
            left = left[line.send(left, socket.MSG_NOSIGNAL) :]
        except BlockingIOError:
            pass
        except OSError:
            return  # libpq finds the connection lost, and knows why
        if not left:
            return
        _poll(line, select.POLLOUT, deadline)


def _first_answer(line: socket.socket, deadline: float | None) -> int | None:
    """Wait for BindComplete or ErrorResponse, which end the first part. Returns None for a connection that is lost, or
    for more notices than are looked at."""
    _poll(line, select.POLLIN, deadline)
    while True:
        try:
            answers = line.recv(_PEEKED_BYTES, socket.MSG_PEEK)
        except OSError:
            return None
        if not answers or len(answers) == _PEEKED_BYTES:
            return None
        found = _deciding(answers)
        if found is not None:
            return found
        if deadline is not None and time.monotonic() > deadline:
            raise DeadlinePassed
        time.sleep(_NOTICE_PAUSE_S)


def _poll(line: socket.socket, event: int, deadline: float | None) -> None:
    poller = select.poll()
    poller.register(line, event)
    left = None if deadline is None else max(0, math.ceil((deadline - time.monotonic()) * 1000))
    if not poller.poll(left):
        raise DeadlinePassed


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


_BIND = _message(b"B", b"\0\0" + struct.pack("!HHH", 0, 0, 0))  # unnamed portal and statement, all in text
_EXECUTE = _message(b"D", b"P\0") + _message(b"E", b"\0" + struct.pack("!I", 0))
_FLUSH = _message(b"H", b"")
_SYNC = _message(b"S", b"")


def _deciding(answers: bytes) -> int | None:
    """Return the first BindComplete or ErrorResponse among the server's messages."""
    at = 0
    while at + 5 <= len(answers):
        if answers[at] in (_BIND_COMPLETE, _ERROR):
            return answers[at]
        at += 1 + int.from_bytes(answers[at + 1 : at + 5])
    return None
