"""DuckDB inside its host process.

DuckDB keeps no results. Its caches are the buffer manager and, for Parquet and CSV files only,
`enable_external_file_cache` (on by default): both go when the database is reopened, and the
setting is recorded.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from tare.dbms.duckdb.failures import failure
from tare.dbms.duckdb.plan import tree
from tare.dbms.duckdb.values import is_beyond_python, rows_of, single_precision
from tare.dbms.embedded.engine import Engine, Explained, Facts, Result, Row, forgotten
from tare.dbms.embedded.holders import holders
from tare.dbms.extent import Extent, TableRows
from tare.dbms.planned import Planned, planned_here
from tare.dbms.statement import may_be_measured
from tare.dbms.url import MEMORY
from tare.errors import BadStatement, ConnectionFailed, TareError, several_statements

_SETTINGS = (
    "threads", "external_threads", "memory_limit", "temp_directory", "max_temp_directory_size",
    "preserve_insertion_order", "enable_external_file_cache", "enable_object_cache", "parquet_metadata_cache",
    "access_mode", "checkpoint_threshold", "wal_autocheckpoint", "allocator_background_threads",
    "default_block_size", "streaming_buffer_size", "scheduler_process_partial",
)  # fmt: skip

# A pipe is read once: nothing is guessed from a sample, and one thread reads.
_CSV = (
    "FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', "
    "NEW_LINE '\\n', ALLOW_QUOTED_NULLS true, STRICT_MODE true, PARALLEL false"
)

_BLOCKS = "SELECT sum(block_size * total_blocks)::BIGINT FROM pragma_database_size()"
_ROWS = "SELECT table_name, estimated_size FROM duckdb_tables() WHERE NOT internal"
_PLANNED = "tare_planned"  # the statement that is planned and executed; each replaces the one before
_SQLITE = b"SQLite format 3\0"

_READS = frozenset({"SELECT", "EXPLAIN", "CALL", "PRAGMA", "RELATION"})
_EXPLAINED = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE_INTO", "COPY"})
_COUNTS = frozenset({"INSERT", "UPDATE", "DELETE", "COPY", "MERGE_INTO"})  # their result is one number
_CHANGES = _COUNTS | {"CREATE", "DROP", "ALTER"}  # of a database; of temporary objects too
_PREPARED = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "COPY"})  # by every version


def engine() -> Engine:
    return DuckDBEngine()


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str  # as it was given
    sql: str
    prepared: str | None  # what executes it; None where DuckDB prepares no such statement
    counts: bool  # its result is a number of rows
    stays: bool  # Python cannot hold its result, which stays in DuckDB until it is compared


class DuckDBEngine(Engine):
    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._statements: dict[int, _Statement] = {}
        self._allow_writes = False
        self._is_read_only = False

    def open(self, path: str, allow_writes: bool, timeout_s: float) -> Facts:
        in_memory = path == MEMORY
        if not in_memory:
            _refuse_sqlite(path)
        try:
            self._allow_writes = allow_writes
            self._is_read_only = not (allow_writes or in_memory)
            self._connection = duckdb.connect(path, read_only=self._is_read_only)
            names = ", ".join(f"'{name}'" for name in _SETTINGS)
            found = self._rows(
                f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name"
            )
        except duckdb.Error as error:
            held = holders([path], os.getpid())
            raise ConnectionFailed(
                f"DuckDB cannot open {path}: "
                + (f"{held} has locked it" if held else str(error).splitlines()[0]),
                "end that process, or have it open the file read-only too"
                if held
                else "check that it is a DuckDB database, written by this version or an older one",
            ) from None
        return Facts(version=duckdb.__version__, settings={str(name): str(value) for name, value in found})

    def close(self) -> None:
        """The last connection's end closes the database and its buffer manager."""
        self._statements.clear()
        if self._connection:
            self._connection.close()
            self._connection = None

    def prepare(self, number: int, sql: str) -> str:
        statement = self._only(sql)
        kind = statement.type.name
        if kind == "MULTI":
            raise BadStatement(
                "DuckDB runs this as several statements (a PIVOT that has to look for its columns first)",
                "list the columns: PIVOT t ON c IN (…) USING …",
            )
        if not self._allow_writes and (
            kind not in _READS or (kind == "EXPLAIN" and not may_be_measured(statement.query))
        ):
            raise BadStatement(
                f"the statement ({kind}) may change data", "give --allow-writes if it is meant to"
            )
        prepared = self._prepared(number, kind, statement.query, sql)
        stays = prepared is not None and self._stays(kind, statement.query)
        self._statements[number] = _Statement(sql, statement.query, prepared, kind in _COUNTS, stays)
        if kind == "COPY":
            return "DuckDB reads the beginning of the file while it plans a COPY"
        return "" if prepared else f"DuckDB prepares no statement of this kind ({kind})"

    def execute(self, number: int) -> Result:
        statement = self._statement(number)
        return self._run(statement.prepared or statement.sql, statement)

    def plan_and_execute(self, number: int) -> Result:
        statement = self._statement(number)
        if statement.prepared is None:
            return self._run(statement.sql, statement)
        self._rows(f"PREPARE {_PLANNED} AS {statement.sql}")
        return self._run(f"EXECUTE {_PLANNED}", statement, planned_here())

    def release(self, number: int) -> None:
        self._statements.pop(number, None)
        self._rows(f"DEALLOCATE tare_{number}")

    def explain(self, sql: str) -> Explained:
        statement = self._only(sql)  # a second one would be run
        if statement.type.name not in _EXPLAINED:
            return Explained(tree=("Utility Statement", {}, []), text="DuckDB explains no such statement")
        shown = self._rows(f"EXPLAIN (FORMAT json) {statement.query}")
        text = self._rows(f"EXPLAIN {statement.query}")
        plans = json.loads(shown[0][1])
        return Explained(tree=tree(plans), text="\n".join(str(row[1]) for row in text))

    def run(self, sql: str) -> None:
        for statement in self._parsed(sql):
            self._rows(statement.query, sql, changes=statement.type.name in _CHANGES)

    def repeat(self, sql: str) -> None:
        parsed = self._parsed(sql)
        has_transaction = any(statement.type.name == "TRANSACTION" for statement in parsed)
        for statement in parsed:
            if not self._allow_writes or has_transaction:
                self._rows(statement.query, changes=statement.type.name in _CHANGES)
            else:
                self._repeat(statement.query)

    def _repeat(self, sql: str) -> None:
        """In a read-only transaction, in which temporary objects may be made and changed, and databases attached."""
        self._rows("BEGIN TRANSACTION READ ONLY")
        try:
            self._open.execute(sql).fetchall()
        except duckdb.TransactionException:  # it lasts
            self._rows("ROLLBACK")
        except duckdb.Error as error:
            self._rows("ROLLBACK")
            raise self._failure(error) from None
        else:
            self._rows("COMMIT")

    def settings(self) -> dict[str, str]:
        found = self._rows(
            "SELECT name, value FROM duckdb_settings() UNION ALL SELECT '$' || name, value FROM duckdb_variables() "
            "UNION ALL SELECT 'database ' || database_name, path FROM duckdb_databases() WHERE NOT internal"
        )
        return {str(name): str(value) for name, value in found}

    def extent(self) -> Extent:
        ((file_bytes,),) = self._rows(_BLOCKS)
        counted = self._rows(_ROWS)
        return Extent(
            file_bytes or self.held_bytes(), {str(name): TableRows(int(rows)) for name, rows in counted}
        )

    def load(self, table: str, file: str) -> int:
        with _without_pattern(file) as plain:
            quoted = plain.replace("'", "''")
            counted = self._rows(f"COPY {table} FROM '{quoted}' ({_CSV})")
        return int(counted[0][0])

    def flush(self) -> None:
        if self._allow_writes:
            self._rows("CHECKPOINT")

    def interrupt(self) -> None:
        if self._connection:
            self._connection.interrupt()

    def held_bytes(self) -> int | None:
        """All that the buffer manager holds, loaded blocks of tables among it."""
        held = self._rows("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()")
        return int(held[0][0])

    def _statement(self, number: int) -> _Statement:
        try:
            return self._statements[number]
        except KeyError:
            raise forgotten(number) from None

    def _run(self, sql: str, statement: _Statement, planned: Planned | None = None) -> Result:
        if statement.stays:
            return self._held(sql, planned)
        try:
            cursor = self._open.execute(sql)
            rows = cursor.fetchall()
        except duckdb.Error as error:
            raise self._failure(error, statement.text) from None
        if statement.counts and len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], int):
            return Result(rows[0][0], [], planned)
        return Result(
            len(rows), rows, planned, single_precision([one[1] for one in cursor.description or ()])
        )

    def _held(self, sql: str, planned: Planned | None) -> Result:
        """An EXECUTE whose result DuckDB keeps: it runs whole, as nothing but a SELECT is put off."""
        try:
            relation = self._open.sql(sql)
        except duckdb.Error as error:
            raise self._failure(error) from None
        assert relation is not None
        late = partial(self._late, relation)
        return Result(len(relation), [], planned, single_precision(relation.types), late)

    def _late(self, relation: duckdb.DuckDBPyRelation) -> list[Row]:
        try:
            return rows_of(relation)
        except duckdb.Error as error:
            raise self._failure(error) from None

    def _stays(self, kind: str, query: str) -> bool:
        """Whether a statement returns what Python cannot hold. DuckDB describes queries without running them, and
        no changes: what these return stays in any case."""
        if kind == "SELECT":
            return any(is_beyond_python(row[1]) for row in self._rows(f"DESCRIBE {query}"))
        return kind in _COUNTS and "returning" in query.lower()

    @property
    def _open(self) -> duckdb.DuckDBPyConnection:
        assert self._connection is not None
        return self._connection

    def _rows(self, sql: str, about: str = "", *, changes: bool = False) -> list[Any]:
        """`about`: the user's text that an error is about, if it is. `changes`: the statement may change data."""
        try:
            return self._open.execute(sql).fetchall()
        except duckdb.Error as error:
            raise self._failure(error, about, changes=changes) from None

    def _failure(self, error: duckdb.Error, about: str = "", *, changes: bool = False) -> TareError:
        return failure(error, about, is_read_only=self._is_read_only, changes=changes)

    def _only(self, sql: str) -> Any:
        """The one statement in the text."""
        parsed = self._parsed(sql)
        if not parsed:
            raise BadStatement("the SQL is empty", "give a statement to measure")
        if len(parsed) > 1:
            raise several_statements()
        return parsed[0]

    def _parsed(self, sql: str) -> list[Any]:
        """The statements in the text, as DuckDB's own parser finds them."""
        try:
            return self._open.extract_statements(sql)
        except duckdb.Error as error:
            raise self._failure(error, sql) from None

    def _prepared(self, number: int, kind: str, sql: str, about: str) -> str | None:
        """The statement to execute; None for all but queries and DML, which DuckDB does not prepare: it refuses a
        statement that it has parsed. None for COPY, too: prepared, it keeps what it has read of the file to find the
        columns, up to 32 MB, and its first execution does not read that again."""
        try:
            self._open.execute(f"PREPARE tare_{number} AS {sql}")
        except duckdb.ParserException as error:
            if kind not in _PREPARED:
                return None
            raise self._failure(error, about) from None
        except duckdb.Error as error:
            raise self._failure(error, about) from None
        if kind == "COPY":
            self._open.execute(f"DEALLOCATE tare_{number}")
            return None
        return f"EXECUTE tare_{number}"


def _refuse_sqlite(path: str) -> None:
    with Path(path).open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:  # DuckDB would look for an extension in the network
            raise ConnectionFailed(f"{path} is an SQLite database", "write sqlite:///… in the URL")


@contextmanager
def _without_pattern(file: str) -> Iterator[str]:
    """The file under a name that DuckDB does not take for a pattern."""
    if not any(mark in file for mark in "*?["):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="tare-load-") as folder:
        plain = Path(folder) / "rows.csv"
        plain.symlink_to(file)
        yield str(plain)
