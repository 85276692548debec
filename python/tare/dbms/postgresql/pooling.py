"""Poolers before PostgreSQL: one that keeps a backend for a session can be measured through, another cannot.

A pooler makes up the key that a client may cancel its query with, so the process id in it is not the backend's.
"""

from __future__ import annotations

import select
from collections.abc import Callable

import psycopg
from psycopg.pq import ExecStatus

from tare.errors import SharedBackends

PATIENCE_S = 5.0  # for a second backend; a pool of one keeps a session of session pooling waiting
ROUNDS = 8  # others' transactions may take the backend for a moment and give it back: one round can miss it

_PID = b"SELECT pg_backend_pid()"

Connection = psycopg.Connection[tuple[object, ...]]


def refuse_shared_backends(first: Connection, opened: Callable[[], Connection], url: str) -> None:
    """Raises SharedBackends where transactions of one session run in changing backends. Sets nothing in the session:
    a pooler may give it to somebody else."""
    backend = _backend(first, _PID, None)
    if backend is None or backend == first.info.backend_pid:
        return
    if not _is_shared(first, opened, backend):
        return
    raise SharedBackends(
        f"{url} is a pooler that gives each transaction another backend (PgBouncer's pool_mode = transaction or "
        "statement): prepared statements and settings are lost, and no process answers for the session",
        "connect to PostgreSQL itself, by the host and port in the pooler's configuration, or set "
        "pool_mode = session for this database",
    )


def _is_shared(first: Connection, opened: Callable[[], Connection], backend: int) -> bool:
    """Whether the first session is seen in two backends, or in one with another session. A pool hands out the backend
    that came back last, or each by turns: the first session asks while the other is within a transaction and has a
    backend to itself, after that transaction, and every round takes one turn more than the round before."""
    ours: set[int | None] = {backend}
    theirs: set[int | None] = set()
    other = opened()
    try:
        for turns in range(ROUNDS):
            for _ in range(turns):
                theirs.add(_backend(other, _PID, PATIENCE_S))
            try:
                theirs.add(_backend(other, b"BEGIN;" + _PID, PATIENCE_S))
            except psycopg.OperationalError:
                return True  # statement pooling ends a connection that begins a transaction
            if None in theirs:
                return False  # a pool of one backend, which the first session keeps
            if not ours & theirs:  # else a pool of one has no backend left for it
                ours.add(_backend(first, _PID, None))
            _backend(other, b"ROLLBACK", PATIENCE_S)
            ours.add(_backend(first, _PID, None))
            if len(ours) > 1 or ours & theirs:
                return True
        return False
    finally:
        other.close()


def _backend(connection: Connection, sql: bytes, patience_s: float | None) -> int | None:
    """Process id of the backend that runs this; None without an answer in time, and where it was refused."""
    wire = connection.pgconn
    wire.send_query(sql)
    poller = select.poll()
    poller.register(wire.socket, select.POLLIN)
    found: int | None = None
    while True:
        while wire.is_busy():
            if not poller.poll(None if patience_s is None else patience_s * 1000):
                return None
            wire.consume_input()
        result = wire.get_result()
        if result is None:
            return found
        if result.status == ExecStatus.TUPLES_OK:
            found = int(result.get_value(0, 0) or b"0")
