"""SQLite inside its host process.

sqlite3 keeps compiled statements by their text, so a statement is "prepared" once it has been
compiled. A statement that only reads is compiled by starting it under a progress handler that
stops it at its first instruction; one that writes is compiled in its first execution. Where
planning is clocked, too, a comment with a new number makes the text new, so that it is compiled again.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from pathlib import Path

from tare.dbms.embedded.engine import Engine, Explained, Facts, Result, forgotten
from tare.dbms.embedded.holders import holders
from tare.dbms.extent import Extent
from tare.dbms.planned import Planned, planned_here
from tare.dbms.sqlite.failures import busy, failure, is_busy
from tare.dbms.sqlite.load import load
from tare.dbms.sqlite.plan import explained
from tare.dbms.sqlite.script import statements
from tare.dbms.statement import first_word, may_be_measured
from tare.dbms.url import MEMORY
from tare.errors import BadStatement, ConnectionFailed, StatementFailed, TareError

_PRAGMAS = (
    "page_size", "page_count", "cache_size", "mmap_size", "journal_mode", "synchronous", "temp_store",
    "locking_mode", "auto_vacuum", "threads", "encoding", "query_only",
)  # fmt: skip

_OF_SESSION = (
    "foreign_keys", "recursive_triggers", "automatic_index", "cell_size_check", "ignore_check_constraints",
    "reverse_unordered_selects", "read_uncommitted", "secure_delete", "busy_timeout", "analysis_limit",
    "cache_spill", "defer_foreign_keys", "legacy_alter_table", "trusted_schema", "soft_heap_limit",
)  # fmt: skip

_TRANSACTION = frozenset({"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"})
_DEFINING = frozenset({"CREATE", "ALTER", "DROP"})
_TEMPORARY = 1  # the database number of temporary tables: writing there changes no data
_EXPLAINED = frozenset({"SELECT", "WITH", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"})
_WRITES = "SQLite compiles a statement that writes in the call that runs it"
_WRITING = frozenset({"Vacuum", "IncrVacuum", "Checkpoint"})


def engine() -> Engine:
    return SQLiteEngine()


class SQLiteEngine(Engine):
    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._statements: dict[int, tuple[str, bool]] = {}  # text, and whether it writes
        self._allow_writes = False
        self._texts = itertools.count()
        self._interrupted = threading.Event()

    def open(self, path: str, allow_writes: bool, timeout_s: float) -> Facts:
        mode = "rw" if allow_writes else "ro"
        in_memory = path == MEMORY
        try:
            self._connection = sqlite3.connect(
                path if in_memory else f"{Path(path).as_uri()}?mode={mode}",
                uri=not in_memory,
                timeout=timeout_s,
                isolation_level=None,
                check_same_thread=False,  # the watching thread interrupts
            )
            self._allow_writes = allow_writes
            if not (allow_writes or in_memory):  # also for databases that a set-up statement attaches
                self._connection.execute("PRAGMA query_only = on")
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            values = {name: self._connection.execute(f"PRAGMA {name}").fetchone() for name in _PRAGMAS}
        except sqlite3.Error as error:
            if is_busy(error):
                what, next_step = busy(error, holders([path, f"{path}-shm"], os.getpid()))
                raise ConnectionFailed(f"{path}: {what}", next_step) from None
            raise ConnectionFailed(
                f"SQLite cannot open {path}: {error}",
                "check that it is an SQLite database; one in WAL mode needs a folder that can be written to",
            ) from None
        settings = {name: str(value[0]) for name, value in values.items() if value}
        return Facts(version=sqlite3.sqlite_version, settings=settings)

    def close(self) -> None:
        self._statements.clear()
        if self._connection:
            self._connection.close()

    def prepare(self, number: int, sql: str) -> str:
        word = first_word(sql)
        if not word:
            raise BadStatement("the SQL is empty", "give a statement to measure")
        writes = word != "EXPLAIN" and self._writes(sql)
        if not self._allow_writes and (writes or not (may_be_measured(sql) or word == "PRAGMA")):
            raise BadStatement(
                f"the statement ({word}) may change data", "give --allow-writes if it is meant to"
            )
        if not writes:
            self._compile(sql)
        self._statements[number] = (sql, writes)
        return _WRITES if writes else ""

    def execute(self, number: int) -> Result:
        sql, _ = self._prepared(number)
        return self._run(sql)

    def plan_and_execute(self, number: int) -> Result:
        sql, writes = self._prepared(number)
        text = f"{self._fresh()} {sql}"
        if writes:
            return self._run(text)
        self._compile(text)
        return self._run(text, planned_here())

    def release(self, number: int) -> None:
        self._statements.pop(number, None)

    def explain(self, sql: str) -> Explained:
        if first_word(sql) not in _EXPLAINED:
            return Explained(tree=("Utility Statement", {}, []), text="SQLite explains no such statement")
        try:
            return explained(self._open.execute(f"EXPLAIN {self._fresh()} QUERY PLAN {sql}").fetchall())
        except sqlite3.Error as error:
            raise self._failure(error) from None

    def run(self, sql: str) -> None:
        for statement in statements(sql):  # the driver's executescript would commit an open transaction first
            self._run(statement)

    def repeat(self, sql: str) -> None:
        for statement in statements(sql):
            lasts = (
                self._allow_writes
                and not self._open.in_transaction
                and first_word(statement) not in _TRANSACTION
                and self._lasts(statement)
            )
            if not lasts:
                self._run(statement)

    def _lasts(self, statement: str) -> bool:
        try:
            return self._writes(statement)
        except StatementFailed:  # a definition that is there already, and so is not compiled
            return first_word(statement) in _DEFINING

    def settings(self) -> dict[str, str]:
        found = {name: self._open.execute(f"PRAGMA {name}").fetchone() for name in (*_PRAGMAS, *_OF_SESSION)}
        attached = self._open.execute("PRAGMA database_list").fetchall()
        return {name: str(value[0]) for name, value in found.items() if value} | {
            f"database {name}": str(path) for _, name, path in attached if name != "temp"
        }

    def extent(self) -> Extent:
        if self._open.in_transaction:  # of the user's: reading would begin its snapshot
            return Extent(None)
        try:
            pages, page_bytes = (
                self._open.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
            )
        except sqlite3.Error:  # locked by another connection
            return Extent(None)
        return Extent(pages * page_bytes)

    def load(self, table: str, file: str) -> int:
        self._interrupted.clear()
        return load(self._open, table, Path(file), self._interrupted.is_set)

    def flush(self) -> None:
        if self._allow_writes:
            self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def interrupt(self) -> None:
        self._interrupted.set()
        if self._connection:
            self._connection.interrupt()

    def _prepared(self, number: int) -> tuple[str, bool]:
        try:
            return self._statements[number]
        except KeyError:
            raise forgotten(number) from None

    def _run(self, sql: str, planned: Planned | None = None) -> Result:
        try:
            cursor = self._open.execute(sql)
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from None
        return Result(max(0, cursor.rowcount) if cursor.description is None else len(rows), rows, planned)

    def _failure(self, error: sqlite3.Error, sql: str = "") -> TareError:
        if not is_busy(error):
            return failure(error, sql=sql)
        files = [str(file) for _, _, file in self._open.execute("PRAGMA database_list") if file]
        return failure(error, holders(files + [f"{file}-shm" for file in files], os.getpid()))

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    def _writes(self, sql: str) -> bool:
        """From the program that SQLite would run: a write transaction, or a command that rewrites."""
        self._open.text_factory = bytes  # constants stand in the program, and need not be UTF-8
        try:
            program = self._open.execute(f"EXPLAIN {self._fresh()} {sql}").fetchall()
        except sqlite3.Error as error:
            raise self._failure(error, sql) from None
        finally:
            self._open.text_factory = str
        return any(
            opcode.decode() in _WRITING or (opcode == b"Transaction" and p1 != _TEMPORARY and p2 > 0)
            for _, opcode, p1, p2, *_ in program
        )

    def _fresh(self) -> str:
        """A comment that makes the text new, so that it is compiled again. (A compiled EXPLAIN that is kept
        shows its plan for ever, even when its index is gone.)"""
        return f"/* {next(self._texts)} */"

    def _compile(self, sql: str) -> None:
        self._open.set_progress_handler(lambda: 1, 1)
        try:
            self._open.execute(sql)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
                raise self._failure(error, sql) from None
        except sqlite3.Error as error:
            raise self._failure(error, sql) from None
        finally:
            self._open.set_progress_handler(None, 0)
