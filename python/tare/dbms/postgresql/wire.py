"""A libpq connection with deadlines: what is sent, what comes back, and which error it is.

libpq is used below psycopg's cursors so that a clocked execution is exactly one
`exec_prepared` round trip (two where planning is clocked, too: see `two_parts`) until the
last byte of the result is here, with no conversion to Python values.
"""

from __future__ import annotations

import logging
import math
import select
import time
from collections.abc import Callable, Iterable

import psycopg
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from tare.dbms.patience import Patience
from tare.dbms.planned import Planned
from tare.dbms.postgresql import failures
from tare.dbms.postgresql.two_parts import DeadlinePassed, TwoParts
from tare.dbms.postgresql.values import rows_of
from tare.dbms.url import scrubbed
from tare.errors import QueryTimeout, ServerLost, StatementFailed, TareError

GRACE_S = 2.0  # how much longer than the server the client waits before it cancels by itself
CANCEL_S = 5.0  # how long a statement may take to stop after its time-out
LEAVE_S = 2.0  # the same after Ctrl-C: then somebody waits
OWN_S = 30.0  # how long a statement of our own (EXPLAIN, settings, …) may take: then the server is frozen
_ENCRYPTED = "the connection is encrypted, and its messages can only be sent all at once"

_FAILURES = (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE, ExecStatus.NONFATAL_ERROR)

logging.getLogger("psycopg").setLevel(logging.ERROR)


class Wire:
    def __init__(self, connection: psycopg.Connection[tuple[object, ...]], password: str | None) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._password = password
        self._statement_timeout_ms: int | None = None  # unknown: of the user's role, or what a script has set
        self._replaced = False
        self.copied: list[bytes] = []  # messages of the last statement, if it was COPY … TO STDOUT
        self.patience: Patience | None = None  # without it, a server that does not answer for OWN_S is lost
        self.allow_writes = False  # a refused change is then the server's doing
        self.pid = self._pgconn.backend_pid  # of the server's process; a pooler makes this number up
        is_plain = not (self._pgconn.ssl_in_use or self._pgconn.used_gssapi)
        self._two_parts = TwoParts(self._pgconn) if is_plain else None

    @property
    def planning_inside(self) -> str:
        """Reason for which planning is not split from execution; empty where it is."""
        return "" if self._two_parts else _ENCRYPTED

    @property
    def connection(self) -> psycopg.Connection[tuple[object, ...]]:
        return self._connection

    def backend_pid(self) -> int:
        """The server's process that serves this connection now. Changes nothing in its session."""
        sql = b"SELECT pg_catalog.pg_backend_pid()"
        result = self._round_trip(lambda: self._pgconn.send_query_params(sql, []), None, OWN_S)
        return int(result.get_value(0, 0) or b"0")

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement of our own and return all its rows. The server refuses several in `sql`."""
        self.limit(None)
        try:
            result = self._own(lambda: self._pgconn.send_query_params(sql.encode(), []))
        except StatementFailed as error:
            error.offset = None  # in our text, not in the user's
            raise
        return list(rows_of(result))

    def script(self, sql: str) -> None:
        """Run statements, which the server splits; results are thrown away."""
        self.limit(None)
        self._statement_timeout_ms = None
        self._round_trip(
            lambda: self._pgconn.send_query(sql.encode()), None, patience=self.patience, may_work_on=True
        )

    def prepare(self, name: str, sql: str) -> None:
        self.limit(None)
        self._own(lambda: self._pgconn.send_prepare(name.encode(), sql.encode()))

    def copy_in(self, sql: str, parts: Iterable[bytes]) -> int:
        """`COPY … FROM STDIN`, fed from `parts`; how many rows it took. What `parts` raises cancels it."""
        self.limit(None)
        result = self._round_trip(lambda: self._pgconn.send_query(sql.encode()), None, parts=parts)
        return result.command_tuples or 0

    def execute(self, name: str, timeout_s: float | None) -> PGresult:
        """Runs what is clocked. A time-out that `limit` has not set costs one `SET` before it."""
        self._ready(timeout_s)
        return self._round_trip(lambda: self._pgconn.send_query_prepared(name.encode(), []), timeout_s)

    def plan_and_execute(
        self, sql: str, timeout_s: float | None, *, split: bool = True
    ) -> tuple[PGresult, Planned | None]:
        """Runs what is clocked where planning is: the text as an unnamed statement, which the server forgets with the
        next one. With the clocks after planning if the connection is plain, unless `split` is false."""
        self._ready(timeout_s)
        text, parts = sql.encode(), self._two_parts
        if parts is None or not split:
            return self._round_trip(lambda: self._pgconn.send_query_params(text, []), timeout_s), None
        planned: Planned | None = None

        def send() -> None:
            nonlocal planned
            deadline = None if timeout_s is None else time.monotonic() + timeout_s + GRACE_S
            planned = parts.send(text, deadline, self.pid)

        return self._round_trip(send, timeout_s), planned

    def limit(self, timeout_s: float | None) -> None:
        """Sets the server's own limit for what is run next, if it is another one; None lifts it."""
        milliseconds = 0 if timeout_s is None else max(1, math.ceil(timeout_s * 1000))
        if milliseconds != self._statement_timeout_ms:
            sql = f"SET statement_timeout = {milliseconds}".encode()
            self._round_trip(
                lambda: self._pgconn.send_query(sql), timeout_s, OWN_S if timeout_s is None else None
            )
            self._statement_timeout_ms = milliseconds

    def close(self) -> None:
        self._replaced = True
        if self._two_parts:
            self._two_parts.close()
        self._connection.close()

    # --------------------------------------------------------------------
    def _ready(self, timeout_s: float | None) -> None:
        if self._replaced:
            raise StatementFailed(
                "the statement was prepared before the connection was renewed", "prepare it again"
            )
        self.limit(timeout_s)

    def _own(self, send: Callable[[], None]) -> PGresult:
        """A statement of ours: a server that does not answer it in time is taken for lost, unless it waits."""
        if self.patience is not None:
            return self._round_trip(send, None, patience=self.patience)
        return self._round_trip(send, None, OWN_S)

    def _round_trip(
        self,
        send: Callable[[], None],
        timeout_s: float | None,
        lost_after_s: float | None = None,
        parts: Iterable[bytes] | None = None,
        patience: Patience | None = None,
        may_work_on: bool = False,
    ) -> PGresult:
        limit_s = lost_after_s if timeout_s is None else timeout_s + GRACE_S
        began = time.monotonic()
        deadline = None if limit_s is None else began + limit_s
        self.copied = []
        try:
            send()
            self._flush(deadline)
            result = self._receive(deadline, parts, patience, may_work_on)
        except DeadlinePassed:
            if lost_after_s is None:
                raise self._cancelled_by_us(timeout_s) from None
            self._connection.close()
            raise not_answered() from None
        except psycopg.Error as error:
            raise self._broken(str(error)) from error
        except BaseException:  # Ctrl-C: leave a connection that can be used, or none
            self._abandon(LEAVE_S)
            raise
        if result.status in _FAILURES:
            raise self._failure(result, timeout_s, time.monotonic() - began)
        return result

    def _flush(self, deadline: float | None) -> None:
        """Send the rest of what is larger than the socket's buffer, in parts."""
        while self._pgconn.flush():
            left = None if deadline is None else max(0, math.ceil((deadline - time.monotonic()) * 1000))
            poller = select.poll()
            poller.register(self._pgconn.socket, select.POLLIN | select.POLLOUT)
            ready = poller.poll(left)
            if not ready:
                raise DeadlinePassed
            if ready[0][1] & select.POLLIN:
                self._pgconn.consume_input()

    def _receive(
        self,
        deadline: float | None,
        parts: Iterable[bytes] | None = None,
        patience: Patience | None = None,
        may_work_on: bool = False,
    ) -> PGresult:
        """The first error, or else the last result, once the server is ready for the next."""
        poller = select.poll()
        poller.register(self._pgconn.socket, select.POLLIN)
        kept: PGresult | None = None
        began = time.monotonic()

        def wait() -> None:
            if patience is not None:
                _await(poller, patience, began, may_work_on)
            elif deadline is None:
                poller.poll()
            else:
                left = deadline - time.monotonic()
                if left <= 0 or not poller.poll(math.ceil(left * 1000)):
                    raise DeadlinePassed
            self._pgconn.consume_input()

        while True:
            while self._pgconn.is_busy():
                wait()
            result = self._pgconn.get_result()
            if result is None:
                break
            if result.status == ExecStatus.COPY_IN:
                self._feed(parts)
            elif result.status == ExecStatus.COPY_OUT:
                self._take(wait)
            if kept is None or kept.status not in _FAILURES:
                kept = result
        if kept is None:
            raise psycopg.OperationalError("the server sent no result")
        return kept

    def _take(self, wait: Callable[[], None]) -> None:
        """Receives what a COPY sends. A script's is dropped with the next statement."""
        taken = []
        while True:
            size, data = self._pgconn.get_copy_data(1)
            if size > 0:
                taken.append(bytes(data))
            elif size == 0:
                wait()
            else:
                break
        self.copied = taken

    def _feed(self, parts: Iterable[bytes] | None) -> None:
        """A server that has refused a line takes the others as well, and says so at the end."""
        if parts is None:
            self._pgconn.put_copy_end(b"Tare sends no data")
            return
        for part in parts:
            while not self._pgconn.put_copy_data(part):
                self._flush(None)
            self._flush(None)
        self._pgconn.put_copy_end()
        self._flush(None)

    def _cancelled_by_us(self, timeout_s: float | None) -> TareError:
        """The server did not stop by itself in time: cancel, and give up the connection if that fails."""
        answered = self._abandon(CANCEL_S)
        shown = f"the query ran longer than its time-out of {timeout_s:g} s" if timeout_s else "time-out"
        if answered:
            return QueryTimeout(f"{shown} and was cancelled", "allow more time with --timeout")
        return QueryTimeout(
            f"{shown}, and the server did not answer the cancel request: the connection was given up",
            "see whether the server still responds (it may be stopped or out of resources)",
        )

    def _abandon(self, wait_s: float) -> bool:
        """Stops what runs. False if the connection had to be closed for it."""
        try:
            self._connection.cancel_safe(timeout=wait_s)
            self._receive(time.monotonic() + wait_s)
        except (psycopg.Error, DeadlinePassed):
            self._connection.close()
            return False
        return True

    def _broken(self, message: str, state: str = "") -> TareError:
        first = scrubbed(message.strip(), self._password).partition("\n")[
            0
        ]  # libpq then guesses at the cause
        return failures.of_lost(first, state)

    def _failure(self, result: PGresult, timeout_s: float | None, elapsed_s: float) -> TareError:
        """The server's own limit cannot have ended what took less: then another has cancelled it."""
        found = failures.diagnosis(result, self._password)
        is_lost = found.state in failures.LOST or found.state.startswith("08")
        if self._pgconn.status == ConnStatus.BAD or is_lost:
            return self._broken(found.message or "the server closed the connection", found.state)
        if found.state == failures.CANCELLED and timeout_s is not None and elapsed_s >= timeout_s:
            return QueryTimeout(
                f"the query ran longer than its time-out of {timeout_s:g} s and was cancelled",
                "allow more time with --timeout",
            )
        return failures.of_statement(found, allow_writes=self.allow_writes)


def not_answered() -> ServerLost:
    """To be raised for a server that has been silent for OWN_S."""
    return failures.of_lost(f"no answer for {OWN_S:g} s")


def _await(poller: select.poll, patience: Patience, began: float, may_work_on: bool) -> None:
    """Waits until there is something to receive, and looks what the server waits for meanwhile."""
    while True:
        wait_s = patience.next_look_s(time.monotonic() - began, OWN_S)
        if poller.poll(math.ceil(wait_s * 1000)):
            return
        patience.look(time.monotonic() - began, may_work_on=may_work_on)
