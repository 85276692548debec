"""The asked runs of a SQLite or PostgreSQL lab, streamed into DuckDB as Arrow record batches.

Each CPU copies a range of QEs by itself. A lab may be written meanwhile: tables are read from the top of
the hierarchy down, and a QE is one transaction, so whoever is seen is seen whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import sqlalchemy as sa
from ibis.backends.duckdb import Backend

from tare.dbms.url import parse, scrubbed
from tare.errors import LabError
from tare.lab.columns import TABLES
from tare.lab.passage import LARGE, Passage, passages
from tare.lab.schema import dbms
from tare.lab.store import Lab
from tare.lab.workspace import cpus, workspace

_BATCH_ROWS = 16_384
_BUSY_MS = 30_000


@dataclass(frozen=True, slots=True)
class _Source:
    lab: Lab
    where: str  # with its password
    dbmses: Sequence[str]  # whose runs it holds


def copied(lab: Lab, where: str, runs: Sequence[int]) -> Backend:
    """A DuckDB that holds `TABLES` of the lab at `where`, restricted to these runs. Closes the lab.

    Raises LabError.
    """
    backend = workspace()
    parts = {table: _parts(lab, table, runs) for table in TABLES}
    with lab.reading() as connection:
        dbmses = connection.execute(sa.select(dbms.c.name).distinct()).scalars().all()
    lab.close()  # ADBC has a SQLite of its own, and two in one process undo each other's file locks
    with ThreadPoolExecutor(cpus()) as pool:
        for table, of_table in parts.items():
            _copy_table(pool, backend, _Source(lab, where, dbmses), table, of_table)
    return backend


def _parts(lab: Lab, table: str, runs: Sequence[int]) -> list[str]:
    """Conditions in SQL that part the table's rows among the CPUs."""
    asked = f"({', '.join(map(str, runs))})"
    if table == "run":
        return [f"id IN {asked}"]
    if table in ("query", "qatc"):
        return [f"run_id IN {asked}"]
    if table not in LARGE:
        return [f"id IN (SELECT {table}_id FROM run WHERE id IN {asked})"]
    with lab.reading() as connection:
        first, last = connection.execute(
            sa.text(f"SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM qe WHERE run_id IN {asked}")
        ).one()
    step = (last - first) // cpus() + 1
    ranges = [
        f"id BETWEEN {low} AND {low + step - 1} AND run_id IN {asked}" for low in range(first, last + 1, step)
    ]
    return ranges if table == "qe" else [f"qe_id IN (SELECT id FROM qe WHERE {one})" for one in ranges]


def _copy_table(pool: Executor, backend: Backend, source: _Source, table: str, parts: Sequence[str]) -> None:
    """The narrow way; the wide way if something does not fit."""
    for narrow in (True, False):
        ways = passages(table, sqlite=source.lab.is_sqlite, dbmses=source.dbmses, narrow=narrow)
        fields = ", ".join(f'"{one.name}" {one.type}' for one in ways)
        backend.raw_sql(f"CREATE OR REPLACE TABLE {table} ({fields})")
        copying = [pool.submit(_copy, backend, source, table, part, ways) for part in parts]
        if all([one.result() for one in copying]):  # noqa: C419 - all have ended before the next way is tried
            return
    raise LabError(
        f"the lab {source.lab.where} holds values in {table} that are none of their columns' types",
        "see what is wrong with it: `tare lab verify`",
    )


def _copy(backend: Backend, source: _Source, table: str, part: str, ways: Sequence[Passage]) -> bool:
    """False if a value does not fit into its column."""
    lab = source.lab
    out = ", ".join(one.leaving for one in ways)
    into = ", ".join(one.arriving for one in ways)
    try:
        with (
            _reader(source, f"SELECT {out} FROM {table} WHERE {part}") as batches,
            closing(backend.con.cursor()) as cursor,
        ):
            cursor.register("batches", batches)
            cursor.execute(f"INSERT INTO {table} SELECT {into} FROM batches")
    except duckdb.ConversionException:
        return False
    except duckdb.OutOfMemoryException as error:
        raise LabError(
            f"the lab {lab.where} does not fit in memory and temporary space: {_first(error)}",
            "give fewer runs, or a TMPDIR with more room",
        ) from error
    except (duckdb.Error, OSError, _adbc_error()) as error:
        raise LabError(
            f"the lab {lab.where} cannot be read: {table}: {scrubbed(_first(error), _secret(source))}",
            "see that it is whole (`tare lab verify`) and can be reached, and try again",
        ) from error
    return True


# Rows -----------------------------------------------------------------------------
@contextmanager
def _reader(source: _Source, sql: str) -> Iterator[Any]:
    """The rows as a stream of Arrow record batches."""
    from adbc_driver_manager import AdbcConnection, AdbcStatement

    path = source.lab.path
    with (
        closing(_sqlite(path) if path is not None else _postgresql(source.where)) as database,
        closing(AdbcConnection(database)) as connection,
        closing(AdbcStatement(connection)) as statement,
    ):
        if path is not None:
            statement.set_sql_query(f"PRAGMA busy_timeout = {_BUSY_MS}")
            statement.execute_update()
            statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH_ROWS)})
        statement.set_sql_query(sql)
        yield statement.execute_query()[0]


def _sqlite(path: Path) -> Any:
    from adbc_driver_sqlite import connect

    # Who may write opens it so, though nothing is written: the last to close takes the -wal and -shm files away.
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return connect(f"file:{quote(str(path))}?mode={'rw' if writable else 'ro&immutable=1'}")


def _postgresql(url: str) -> Any:
    from adbc_driver_postgresql import connect

    return connect(url)


def _adbc_error() -> type[Exception]:
    from adbc_driver_manager import Error

    return Error


def _secret(source: _Source) -> str | None:
    known = not source.lab.is_sqlite and "," not in source.where  # several hosts: libpq's own form
    return parse(source.where).password if known else None


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
