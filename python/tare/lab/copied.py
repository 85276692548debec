"""The asked runs of a SQLite or PostgreSQL lab, streamed into DuckDB as Arrow record batches.

Each CPU copies a range of QEs by itself. A lab may be written meanwhile: tables are read from the top of
the hierarchy down, and a QE is one transaction, so whoever is seen is seen whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlalchemy as sa
from ibis.backends.duckdb import Backend

from tare._probe import LabRows, read_lab
from tare.dbms.conninfo import secrets_of
from tare.dbms.url import scrubbed
from tare.errors import LabError
from tare.interruption import deferred
from tare.lab.columns import TABLES
from tare.lab.passage import LARGE, Passage, passages
from tare.lab.schema import dbms
from tare.lab.store import Lab
from tare.lab.trouble import first_line
from tare.lab.workspace import cpus, workspace


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
    lab.close()  # what reads it has a SQLite of its own, and two in one process undo each other's file locks
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
        others = connection.scalar(
            sa.text(
                "SELECT count(*) FROM qe WHERE run_id IN "
                f"(SELECT id FROM run WHERE id NOT IN {asked}) AND id BETWEEN {first} AND {last}"
            )
        )
    step = (last - first) // cpus() + 1
    ranges = [f"BETWEEN {low} AND {low + step - 1}" for low in range(first, last + 1, step)]
    if not others:  # the range is theirs alone, which spares looking each QE up
        return [f"{'id' if table == 'qe' else 'qe_id'} {one}" for one in ranges]
    if table == "qe":
        return [f"id {one} AND run_id IN {asked}" for one in ranges]
    return [f"qe_id IN (SELECT id FROM qe WHERE id {one} AND run_id IN {asked})" for one in ranges]


def _copy_table(pool: Executor, backend: Backend, source: _Source, table: str, parts: Sequence[str]) -> None:
    """The narrow way; the wide way if something does not fit."""
    for narrow in (True, False):
        ways = passages(table, sqlite=source.lab.is_sqlite, dbmses=source.dbmses, narrow=narrow)
        fields = ", ".join(f'"{one.name}" {one.type}' for one in ways)
        backend.raw_sql(f"CREATE OR REPLACE TABLE {table} ({fields})")
        with deferred():  # a thread whose start is interrupted would be among those that nobody waits for
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
    into = ", ".join(one.arriving for one in ways)
    rows: LabRows | None = None
    try:
        with ExitStack() as stack:
            if lab.path is not None:
                rows = _from_sqlite(lab.path, table, part, ways)
                batches: Any = pa.RecordBatchReader.from_stream(rows)  # DuckDB asks a stream twice
            else:
                batches = stack.enter_context(_from_postgresql(source.where, table, part, ways))
            cursor = stack.enter_context(closing(backend.con.cursor()))
            cursor.register("batches", batches)
            cursor.execute(f"INSERT INTO {table} SELECT {into} FROM batches")
    except duckdb.ConversionException:
        return False
    except duckdb.OutOfMemoryException as error:
        raise LabError(
            f"the lab {lab.where} does not fit in memory and temporary space: {first_line(error)}",
            "give fewer runs, or a TMPDIR with more room",
        ) from error
    except (duckdb.Error, OSError, _adbc_error()) as error:
        if rows is not None and rows.misfit:
            return False
        raise LabError(
            f"the lab {lab.where} cannot be read: {table}: {scrubbed(first_line(error), *secrets_of(source.where))}",
            "see that it is whole (`tare lab verify`) and can be reached, and try again",
        ) from error
    return True


# Rows -----------------------------------------------------------------------------
def _from_sqlite(path: Path, table: str, part: str, ways: Sequence[Passage]) -> LabRows:
    # Who may write opens it so, though nothing is written: the last to close takes the -wal and -shm files away.
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    names = ", ".join(f'"{one.name}"' for one in ways)
    kinds = [(one.name, one.kind, list(one.words)) for one in ways]
    return read_lab(path.absolute(), writable, f"SELECT {names} FROM {table} WHERE {part}", kinds)


@contextmanager
def _from_postgresql(url: str, table: str, part: str, ways: Sequence[Passage]) -> Iterator[Any]:
    """The rows as a stream of Arrow record batches."""
    from adbc_driver_manager import AdbcConnection, AdbcStatement
    from adbc_driver_postgresql import connect

    with (
        closing(connect(url)) as database,
        closing(AdbcConnection(database)) as connection,
        closing(AdbcStatement(connection)) as statement,
    ):
        out = ", ".join(one.leaving for one in ways)
        statement.set_sql_query(f"SELECT {out} FROM {table} WHERE {part}")
        yield statement.execute_query()[0]


def _adbc_error() -> type[Exception]:
    from adbc_driver_manager import Error

    return Error
