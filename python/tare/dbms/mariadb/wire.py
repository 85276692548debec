"""A connection of the MariaDB connector: statements, the time-out's two guards, and errors.

The clocked part is a statement, or `EXECUTE name` of one prepared in the server, sent as text, until
the client library holds the whole result ("buffered"); rows become Python values only when
they are fetched. (The connector's own binary protocol joins prepare and execute in one call, so
the first execution would cost more.) The call runs in a thread of its own, some tens of
microseconds away, because the library cannot be interrupted: the caller waits with a deadline.
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as WaitTimeout
from contextlib import suppress
from typing import Any

from tare.dbms.mariadb import failures
from tare.dbms.patience import Patience
from tare.dbms.url import scrubbed
from tare.errors import ConnectionFailed, QueryTimeout, ServerLost, StatementFailed, TareError

GRACE_S = 2.0  # how much longer than the server the client waits before it kills the query
CANCEL_S = 5.0  # how long a query may take to stop after its time-out
LEAVE_S = 2.0  # the same after Ctrl-C: then somebody waits
OWN_S = 30.0  # how long a statement of our own (EXPLAIN, settings, …) may take: then the server is frozen

_PART = 500_000  # bytes of a statement that are sent at once, as twice as many digits
_HAS_LIMIT = "SHOW VARIABLES LIKE 'max_execution_time'"  # MySQL's, from 5.7.8 on
_NOT_CONNECTED = "not connected"  # the driver's own, of a connection that was cut
_NO_ERRORS = "SIGNAL SQLSTATE '01000'"  # a warning; statements without tables leave earlier errors there
_UNKNOWN_S = math.nan  # of a limit; no other limit equals it


class Wire:
    def __init__(self, driver: Any, opened: Callable[..., Any], password: str | None) -> None:
        self._driver = driver
        self._opened = opened
        self._password = password
        self._connection = opened()
        # Asked now: while a call runs in the other thread, the connection must not be touched.
        self._id = int(self._connection.connection_id)
        self._descriptor = int(self._connection.socket.detach())  # else it is closed twice
        self._stuck = False
        self._caller = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tare-mariadb")
        self._caller.submit(int).result()  # the thread is there before the first clock
        self._replaced = False
        self.patience: Patience | None = None  # without it, a server that does not answer for OWN_S is lost
        self.allow_writes = False  # a refused change is then the server's doing
        self.is_mariadb = "mariadb" in str(self._connection.server_info).lower()
        self._limits = self.is_mariadb or bool(self.query(_HAS_LIMIT))
        # The user's account or the server's configuration may set one.
        self._limit_s: float | None = _UNKNOWN_S if self._limits else None

    @property
    def descriptor(self) -> int:
        """The connection's socket, to be looked at only."""
        return self._descriptor

    @property
    def id(self) -> int:
        """The connection's number, as in the list of processes."""
        return self._id

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one of our own statements and return all its rows."""
        return self._own(sql, sql)

    def script(self, sql: str) -> None:
        """Run statements, which the server splits; results are thrown away.

        The driver drops the error of any but the first: it is read from the server's diagnostics, emptied before."""
        self.limit(None)
        self.query(_NO_ERRORS)
        self._limit_s = _UNKNOWN_S if self._limits else None
        running = self._submit(self._script, sql)
        if self.patience is not None:
            self._watch(running, self.patience, may_work_on=True)
        self._answer(running, None, sql)
        for _, number, message in self.query("SHOW ERRORS LIMIT 1"):
            raise self._refused(str(message), int(number), sql)

    def load(self, sql: str) -> int:
        """LOAD DATA, however long it takes; how many rows it took."""
        return int(self._answer(self._submit(self._change, sql), None, sql))

    def insert(self, sql: str, rows: Sequence[Sequence[object]]) -> int:
        """Run one INSERT for many rows, and return how many it took."""
        return int(self._answer(self._submit(self._change_many, sql, rows), None, sql))

    def prepare(self, name: str, sql: str, about: str | None = None) -> None:
        """The text travels in hexadecimal: nothing in it needs quoting, and several are refused. A long one goes in
        parts, since the server takes packets of a limited length (4 MB in MySQL 5.6). `about`: the user's text, if
        `sql` is more than that."""
        self.limit(None)
        text = sql.encode()
        first, *others = [text[at : at + _PART] for at in range(0, max(len(text), 1), _PART)]
        self.query(
            f"SET @tare_statement = CONVERT(x'{first.hex()}' USING {'binary' if others else 'utf8mb4'})"
        )
        for part in others:
            self.query(f"SET @tare_statement = CONCAT(@tare_statement, x'{part.hex()}')")
        if others:
            self.query("SET @tare_statement = CONVERT(@tare_statement USING utf8mb4)")
        self._own(f"PREPARE {name} FROM @tare_statement", sql if about is None else about)

    def limit(self, timeout_s: float | None) -> None:
        """Sets the server's own limit for what is run next, if it is another one; None lifts it."""
        if self._limits and timeout_s != self._limit_s:
            self.query(self._setting(timeout_s))
            self._limit_s = timeout_s

    def execute(self, sql: str, timeout_s: float | None) -> Any:
        """Runs what is clocked: one statement that the server has prepared before, or the EXECUTE of it. Returns a
        cursor that holds the result. A time-out that `limit` has not set costs one `SET` before it."""
        if self._replaced:
            raise StatementFailed(
                "the statement was prepared before the connection was renewed", "prepare it again"
            )
        running = self._submit(self._execute, sql, timeout_s)
        try:
            grace_s = GRACE_S if self._limits else 0.0
            return self._answer(running, None if timeout_s is None else timeout_s + grace_s, sql, timeout_s)
        except WaitTimeout:
            pass
        assert timeout_s is not None
        self._stop(running, CANCEL_S)
        raise _timed_out(timeout_s)

    def close(self) -> None:
        self._replaced = True
        if not self._stuck:  # else the other thread is within the library: this would free its memory
            with suppress(self._driver.Error):
                self._connection.close()
        self._caller.shutdown(wait=False)

    # --------------------------------------------------------------------
    def _own(self, sql: str, about: str) -> list[tuple[Any, ...]]:
        """A statement of ours; a server that does not answer it in time is taken for lost. `about` is
        the user's text that an error is about."""
        running = self._submit(self._query, sql)
        if self.patience is not None:
            self._watch(running, self.patience, may_work_on=False)
        try:
            found: list[tuple[Any, ...]] = self._answer(running, OWN_S, about)
        except WaitTimeout:
            self._cut(running, CANCEL_S)
            raise not_answered() from None
        return found

    def _submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if self._replaced or self._stuck:
            raise failures.of_lost("the connection was given up before")
        return self._caller.submit(call, *arguments)

    def _answer(
        self, running: Future[Any], wait_s: float | None, about: str, timeout_s: float | None = None
    ) -> Any:
        """Waits for the other thread. Raises WaitTimeout, and what the server said."""
        try:
            return running.result(wait_s)
        except self._driver.Error as error:
            raise self._failure(error, timeout_s, about) from None
        except WaitTimeout:
            raise
        except KeyboardInterrupt:
            self._stop(running, LEAVE_S)
            raise

    def _watch(self, running: Future[Any], patience: Patience, *, may_work_on: bool) -> None:
        """Waits for the other thread, and looks what the server waits for meanwhile."""
        began = time.monotonic()
        try:
            while not wait([running], patience.next_look_s(time.monotonic() - began, OWN_S)).done:
                patience.look(time.monotonic() - began, may_work_on=may_work_on)
        except BaseException:  # given up, lost, Ctrl-C
            self._stop(running, LEAVE_S)
            raise

    def _stop(self, running: Future[Any], wait_s: float) -> None:
        """Leave a connection that can be used, or none."""
        is_killed = self._kill(wait_s)
        if not wait([running], wait_s if is_killed else 0).done:
            self._cut(running, wait_s)

    # In the other thread --------------------------------------------------
    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []

    def _script(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            while cursor.nextset():
                pass

    def _change(self, sql: str) -> int:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return int(cursor.affected_rows)

    def _change_many(self, sql: str, rows: Sequence[Sequence[object]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql, rows)
            return int(cursor.rowcount)

    def _execute(self, sql: str, timeout_s: float | None) -> Any:
        if self._limits and timeout_s != self._limit_s:
            self._query(self._setting(timeout_s))
            self._limit_s = timeout_s
        cursor = self._connection.cursor(buffered=True)
        cursor.execute(sql)
        return cursor

    # --------------------------------------------------------------------
    def _setting(self, timeout_s: float | None) -> str:
        """The statement that sets the server's own limit (MySQL's holds for SELECT only, and came with 5.7); 0 means
        none."""
        if self.is_mariadb:
            return f"SET SESSION max_statement_time = {timeout_s or 0:.6f}"
        return f"SET SESSION max_execution_time = {math.ceil((timeout_s or 0) * 1000)}"

    def _kill(self, wait_s: float) -> bool:
        """KILL QUERY from a second connection. False where none opened in time."""
        with suppress(self._driver.Error, ConnectionFailed):
            other = self._opened(connect_timeout=math.ceil(wait_s))
            try:
                with other.cursor() as cursor:
                    cursor.execute(f"KILL QUERY {self._id}")
            finally:
                other.close()
            return True
        return False

    def _cut(self, running: Future[Any], wait_s: float) -> None:
        """Ends a read that nothing else ends; the connection is lost with it."""
        with suppress(OSError):
            line = socket.socket(fileno=os.dup(self._descriptor))
            with line:
                line.shutdown(socket.SHUT_RDWR)
        wait([running], wait_s)
        self._stuck = not running.done()

    def _failure(self, error: Any, timeout_s: float | None, sql: str) -> TareError:
        message = scrubbed(str(error).strip(), self._password)
        number = getattr(error, "errno", 0)
        if number in failures.LOST or _NOT_CONNECTED in message:
            return failures.of_lost(f"{message} [{number}]")
        if number in failures.TIMED_OUT and timeout_s is not None:
            return _timed_out(timeout_s)
        return self._refused(message, number, sql)

    def _refused(self, message: str, number: int, sql: str) -> TareError:
        message = scrubbed(message, self._password)
        return failures.of_statement(message, number, sql, allow_writes=self.allow_writes)


def not_answered() -> ServerLost:
    """To be raised for a server that has been silent for OWN_S."""
    return failures.of_lost(f"no answer for {OWN_S:g} s")


def _timed_out(timeout_s: float) -> QueryTimeout:
    return QueryTimeout(
        f"the query ran longer than its time-out of {timeout_s:g} s and was ended",
        "allow more time with --timeout",
    )
