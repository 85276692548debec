"""A client that fails in every way that a server has to bear, and knows how each has to end.

Before each failure its transaction adds a row that must be gone afterwards; after it another is committed. The ledger
is checked at the end. Statements of the load's own connections are cancelled, and some of these connections are ended.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg

from benchmarks.common import connect

PAUSE_S = 0.05
UNDER_WAY_S = 0.05
"""After it a statement that was sent is in the server."""

AGAIN_S = 0.3

LOADS_TABLES = ("stock", "customer", "district", "order")
MEMORY = 1 << 30  # bytes of addresses, of a process whose memory is limited
TURNS = 20
"""Turns of the other failures for each connection of the load that is ended."""

MOST_SURPRISES = 20

CLIENT = """
import json, sys
from benchmarks.common import connect
url, statements = json.loads(sys.argv[1])
cursor = connect(url).cursor(**({} if url.startswith("postgresql") else {"buffered": False}))
for statement in statements[:-1]:
    cursor.execute(statement)
print(end=".", flush=True)
cursor.execute(statements[-1])
"""


class ClientKilled(Exception):
    """A client of ours, in mid-statement."""


class Trouble(ABC):
    """Within the block it goes on and on."""

    LONG: str
    """A statement that takes some seconds of CPU time."""

    LARGE: str
    """A statement with more rows than a client's and a server's buffers hold."""

    def __init__(self, url: str) -> None:
        self.counts: Counter[str] = Counter()
        self.surprises: list[str] = []
        self._url = url
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._committed = 0
        self._draw = random.Random(1)

    def __enter__(self) -> Trouble:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            cursor.execute("DROP TABLE IF EXISTS ledger")
            cursor.execute("CREATE TABLE ledger (id integer PRIMARY KEY)")
            cursor.execute("INSERT INTO ledger VALUES (0)")
        self._stop.clear()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def wrong(self) -> list[str]:
        """Facts that the ledger contradicts."""
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SELECT count(*), min(id) FROM ledger")
            found = tuple(cursor.fetchone())
        due = (self._committed + 1, 0)
        return [] if found == due else [f"the ledger's count and least id are {found}, not {due}"]

    # Failures ----------------------------------------------------------------
    @abstractmethod
    def failures(self) -> Sequence[tuple[str, Callable[[], object]]]:
        """By name."""

    @abstractmethod
    def is_expected(self, name: str, error: BaseException) -> bool: ...

    @abstractmethod
    def number_of(self, connection: Any) -> int:
        """Number that the server gives to the connection."""

    @abstractmethod
    def cancel(self, cursor: Any, number: int) -> None: ...

    @abstractmethod
    def end(self, cursor: Any, number: int) -> None: ...

    @abstractmethod
    def of_load(self, cursor: Any) -> list[int]:
        """Connections of the load with a statement under way."""

    def failing(self, statement: str) -> None:
        """A statement that fails, in a transaction that has changed something."""
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            self._begin(cursor)
            cursor.execute(statement)
            cursor.fetchall()

    def cancelled(self) -> None:
        with self._under_way() as (until_over, number, other):
            until_over(lambda: self.cancel(other, number))

    def ended(self) -> None:
        with self._under_way() as (until_over, number, other):
            until_over(lambda: self.end(other, number))

    def ended_idle(self) -> None:
        """In a transaction, between two statements."""
        with (
            self._connection() as victim,
            self._connection() as connection,
            closing(victim.cursor()) as cursor,
            closing(connection.cursor()) as other,
        ):
            self._begin(cursor)
            self.end(other, self.number_of(victim))
            time.sleep(UNDER_WAY_S)
            cursor.execute("SELECT 1")

    def disconnected(self) -> None:
        """The client is killed while the server sends it rows."""
        statements = ("BEGIN", f"INSERT INTO ledger VALUES ({-1 - self._committed})", self.LARGE)
        words = json.dumps([self._url, statements])
        with subprocess.Popen([sys.executable, "-c", CLIENT, words], stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            client.stdout.read(1)
            time.sleep(UNDER_WAY_S)
            client.kill()
        raise ClientKilled

    # Inside ------------------------------------------------------------------
    @contextmanager
    def _connection(self) -> Iterator[Any]:
        connection = connect(self._url)
        try:
            yield connection
        finally:
            with suppress(Exception):
                connection.close()

    def _begin(self, cursor: Any) -> None:
        cursor.execute("BEGIN")
        cursor.execute(f"INSERT INTO ledger VALUES ({-1 - self._committed})")

    @contextmanager
    def _under_way(self) -> Iterator[tuple[Callable[[Callable[[], None]], None], int, Any]]:
        """A function that acts upon a statement under way until it is over, and raises what ended it; the number of its
        connection; and another connection's cursor."""
        raised: list[BaseException] = []
        with (
            self._connection() as victim,
            self._connection() as connection,
            closing(connection.cursor()) as other,
        ):
            number = self.number_of(victim)

            def work() -> None:
                try:
                    with closing(victim.cursor()) as cursor:
                        self._begin(cursor)
                        cursor.execute(self.LONG)
                        cursor.fetchall()
                except Exception as error:
                    raised.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(UNDER_WAY_S)

            def until_over(act: Callable[[], None]) -> None:
                while thread.is_alive():  # what comes before the statement acts upon nothing
                    with suppress(Exception):  # the connection is gone by now
                        act()
                    thread.join(AGAIN_S)
                if raised:
                    raise raised[0]

            yield until_over, number, other

    def _run(self) -> None:
        turn = 0
        while not self._stop.is_set():
            for name, act in self.failures():
                if self._stop.is_set():
                    return
                self._once(name, act)
                time.sleep(PAUSE_S)
            turn += 1
            with suppress(Exception):
                self._trouble_the_load(ends=turn % TURNS == 0)

    def _once(self, name: str, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            if self.is_expected(name, error):
                self.counts[name] += 1
            else:
                self._surprised(f"{name}: {error!r}")
        else:
            self._surprised(f"{name}: nothing failed")
        try:
            with self._connection() as connection, closing(connection.cursor()) as cursor:
                cursor.execute(f"INSERT INTO ledger VALUES ({self._committed + 1})")
            self._committed += 1
        except Exception as error:
            self._surprised(f"after {name}: {error!r}")

    def _surprised(self, what: str) -> None:
        self.counts["unexpected"] += 1
        if len(self.surprises) < MOST_SURPRISES:
            self.surprises.append(what)

    def _trouble_the_load(self, *, ends: bool) -> None:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            if numbers := self.of_load(cursor):
                (self.end if ends else self.cancel)(cursor, self._draw.choice(numbers))
                self.counts["of the load: ended" if ends else "of the load: cancelled"] += 1


@contextmanager
def limited_memory() -> Iterator[None]:
    """Processes that are started within the block may take so much. Ours may, too."""
    usual = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, usual)


class PostgreSQLTrouble(Trouble):
    LONG = "SELECT count(*) FROM generate_series(1, 100000000)"
    LARGE = "SELECT repeat('x', 1000) FROM generate_series(1, 100000)"
    EXPECTED: tuple[tuple[str, type[Exception]], ...] = (
        ("duplicate key", psycopg.errors.UniqueViolation),
        ("syntax error", psycopg.errors.SyntaxError),
        ("division by zero", psycopg.errors.DivisionByZero),
        ("statement timeout", psycopg.errors.QueryCanceled),
        ("cancelled", psycopg.errors.QueryCanceled),
        ("ended", psycopg.OperationalError),
        ("ended idle", psycopg.OperationalError),
        ("client killed", ClientKilled),
        ("value too large", psycopg.Error),
        ("out of memory", psycopg.errors.OutOfMemory),
        ("caught within", psycopg.errors.RaiseException),
    )

    def failures(self) -> Sequence[tuple[str, Callable[[], object]]]:
        caught = """DO $$ BEGIN
            FOR i IN 1..20 LOOP BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP;
            RAISE 'last'; END $$"""
        huge = "SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 900)"
        return (
            ("duplicate key", lambda: self.failing("INSERT INTO ledger VALUES (0)")),
            ("syntax error", lambda: self.failing("SELEC 1")),
            (
                "division by zero",
                lambda: self.failing("SELECT 1 / (g - 500) FROM generate_series(1, 1000) g"),
            ),
            ("statement timeout", self._timeout),
            ("cancelled", self.cancelled),
            ("ended", self.ended),
            ("ended idle", self.ended_idle),
            ("client killed", self.disconnected),
            ("value too large", lambda: self.failing("SELECT repeat('x', 1100000000)")),
            ("out of memory", lambda: self.failing(huge)),
            ("caught within", lambda: self.failing(caught)),
        )

    def is_expected(self, name: str, error: BaseException) -> bool:
        return isinstance(error, dict(self.EXPECTED)[name])

    def number_of(self, connection: Any) -> int:
        return int(connection.info.backend_pid)

    def cancel(self, cursor: Any, number: int) -> None:
        cursor.execute(f"SELECT pg_cancel_backend({number})")

    def end(self, cursor: Any, number: int) -> None:
        cursor.execute(f"SELECT pg_terminate_backend({number})")

    def of_load(self, cursor: Any) -> list[int]:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() "
            f"AND query ~* '{'|'.join(LOADS_TABLES)}'"
        )
        return [number for (number,) in cursor.fetchall()]

    def _timeout(self) -> None:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            self._begin(cursor)
            cursor.execute("SET LOCAL statement_timeout = '20ms'")
            cursor.execute(self.LONG)


class MariaDBTrouble(Trouble):
    LONG = "SELECT count(*) FROM seq_1_to_20000 a, seq_1_to_20000 b WHERE a.seq % 7 = b.seq % 5"
    LARGE = "SELECT repeat('x', 1000) FROM seq_1_to_100000"
    EXPECTED: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("duplicate key", (1062,)),
        ("syntax error", (1064,)),
        ("division by zero", (1365,)),
        ("statement timeout", (1969,)),
        ("cancelled", (1317,)),
        ("ended", (2013, 2006, 1317, 1927)),
        ("ended idle", (2013, 2006, 1927)),
        ("out of memory", (1290,)),
        ("caught within", (1644,)),
    )
    """Numbers of errors."""

    def failures(self) -> Sequence[tuple[str, Callable[[], object]]]:
        caught = """BEGIN NOT ATOMIC
            DECLARE CONTINUE HANDLER FOR 1062 SET @again = 1;
            FOR i IN 1..20 DO INSERT INTO ledger VALUES (0); END FOR;
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'last'; END"""
        return (
            ("duplicate key", lambda: self.failing("INSERT INTO ledger VALUES (0)")),
            ("syntax error", lambda: self.failing("SELEC 1")),
            ("division by zero", lambda: self.failing("INSERT INTO ledger SELECT 1 / (id - id) FROM ledger")),
            (
                "statement timeout",
                lambda: self.failing(f"SET STATEMENT max_statement_time = 0.02 FOR {self.LONG}"),
            ),
            ("cancelled", self.cancelled),
            ("ended", self.ended),
            ("ended idle", self.ended_idle),
            ("client killed", self.disconnected),
            ("out of memory", self._out_of_memory),
            ("caught within", lambda: self.failing(caught)),
        )

    def is_expected(self, name: str, error: BaseException) -> bool:
        if name == "client killed":
            return isinstance(error, ClientKilled)
        return getattr(error, "errno", None) in dict(self.EXPECTED)[name]

    def number_of(self, connection: Any) -> int:
        return int(connection.connection_id)

    def cancel(self, cursor: Any, number: int) -> None:
        cursor.execute(f"KILL QUERY {number}")

    def end(self, cursor: Any, number: int) -> None:
        cursor.execute(f"KILL CONNECTION {number}")

    def of_load(self, cursor: Any) -> list[int]:
        tables = "|".join(LOADS_TABLES)
        cursor.execute(
            "SELECT id FROM information_schema.processlist WHERE command IN ('Query', 'Execute') "
            f"AND id <> connection_id() AND info RLIKE '{tables}'"
        )
        return [number for (number,) in cursor.fetchall()]

    def _out_of_memory(self) -> None:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            self._begin(cursor)
            cursor.execute("SET SESSION max_session_mem_used = 4000000")
            cursor.execute("SELECT count(DISTINCT md5(seq)) FROM seq_1_to_200000")
            cursor.fetchall()


class MySQLTrouble(MariaDBTrouble):
    """Failures for MySQL 5.6, which has no sequences, time-outs of statements or compound statements of their own."""

    LONG = "SELECT count(*) FROM stock a, stock b WHERE a.s_i_id % 7 = b.s_i_id % 5 + 10"
    LARGE = "SELECT repeat('x', 1000) FROM stock"
    EXPECTED = (
        *(one for one in MariaDBTrouble.EXPECTED if one[0] not in ("statement timeout", "out of memory")),
        ("null in a key", (1048,)),
        ("table full", (1114,)),
    )

    def __enter__(self) -> Trouble:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            cursor.execute("DROP PROCEDURE IF EXISTS caught")
            cursor.execute("""CREATE PROCEDURE caught() BEGIN
                DECLARE turns integer DEFAULT 0;
                DECLARE CONTINUE HANDLER FOR 1062 SET turns = turns;
                WHILE turns < 20 DO INSERT INTO ledger VALUES (0); SET turns = turns + 1; END WHILE;
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'last'; END""")
        return super().__enter__()

    def failures(self) -> Sequence[tuple[str, Callable[[], object]]]:
        return (
            ("duplicate key", lambda: self.failing("INSERT INTO ledger VALUES (0)")),
            ("syntax error", lambda: self.failing("SELEC 1")),
            ("null in a key", lambda: self.failing("INSERT INTO ledger VALUES (NULL)")),
            ("cancelled", self.cancelled),
            ("ended", self.ended),
            ("ended idle", self.ended_idle),
            ("client killed", self.disconnected),
            ("table full", self._table_full),
            ("caught within", lambda: self.failing("CALL caught()")),
        )

    def _table_full(self) -> None:
        with self._connection() as connection, closing(connection.cursor()) as cursor:
            self._begin(cursor)
            cursor.execute("SET SESSION max_heap_table_size = 16384")
            cursor.execute("CREATE TEMPORARY TABLE full ENGINE = MEMORY AS SELECT * FROM stock")
