"""Runs of a lab into a folder of Parquet files, whole or not at all, a few thousand rows at a time."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import JSON, Connection, Select, Table, Text, cast, select

from tare.errors import ExportFailed, UsageError
from tare.files import synced
from tare.lab.parquet import (
    DESCRIPTION,
    OLTP_TABLES,
    TABLES,
    Description,
    FileFacts,
    arrow_schema,
    file_of,
    table_of,
)
from tare.lab.schema import qe, run
from tare.lab.schema_oltp import oltp_run
from tare.lab.store import Lab

_PLACES = ("moment", "second", "number", "name")
"""Order of rows below a transactional run that have no key: an export of an import is the same export."""

_FETCH_ROWS = 8_192
_GROUP_ROWS = 131_072
_GROUP_BYTES = 64 << 20


def export(lab: Lab, runs: Sequence[int], folder: Path, oltp: Sequence[int] = ()) -> Description:
    """All rows of these runs as they are at one moment, into a new or empty folder. `oltp`: transactional ones.

    Raises UsageError if the folder is in the way, ExportFailed if it cannot be written, LabError.
    """
    target = folder.resolve()
    _refuse_occupied(target)
    with _whole_or_not(target) as partial, lab.reading() as connection:
        tables = (*TABLES, *(OLTP_TABLES if oltp else ()))
        description = Description(
            tare=version("tare-db"),
            exported_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            runs=_uuids(connection, run, runs),
            oltp_runs=_uuids(connection, oltp_run, oltp),
            files={
                name: _write(connection, table_of(name), rows_of(table_of(name), runs, oltp), partial)
                for name in tables
            },
        )
        (partial / DESCRIPTION).write_text(description.as_text(), encoding="utf-8")
    return description


def _uuids(connection: Connection, table: Table, runs: Sequence[int]) -> tuple[str, ...]:
    wanted = select(table.c.uuid).where(table.c.id.in_(list(runs))).order_by(table.c.id)
    return tuple(connection.execute(wanted).scalars())


def rows_of(table: Table, runs: Sequence[int], oltp: Sequence[int] = ()) -> Select[Any]:
    """The rows of a table that belong to these runs, in the order of their keys; JSON as its text."""
    asked, transactional = list(runs), list(oltp)
    order: Sequence[Any]
    if "qe_id" in table.c:
        mine, order = table.c.qe_id.in_(select(qe.c.id).where(qe.c.run_id.in_(asked))), [table.c.qe_id]
    elif "run_id" in table.c:
        mine, order = table.c.run_id.in_(asked), [table.c.id]
    elif table is run:
        mine, order = run.c.id.in_(asked), [run.c.id]
    elif table is oltp_run:
        mine, order = oltp_run.c.id.in_(transactional), [oltp_run.c.id]
    elif "oltp_run_id" in table.c:
        mine = table.c.oltp_run_id.in_(transactional)
        order = [table.c.oltp_run_id, *(table.c[name] for name in _PLACES if name in table.c)]
    else:
        mine, order = table.c.id.in_(_above(table.name, asked, transactional)), [table.c.id]
    wanted = [
        cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column
        for column in table.columns
    ]
    return select(*wanted).where(mine).order_by(*order)


def _above(table: str, runs: list[int], oltp: list[int]) -> Any:
    """Ids of what runs of either kind have in common."""
    of_runs = select(run.c[f"{table}_id"]).where(run.c.id.in_(runs))
    if f"{table}_id" not in oltp_run.c:
        return of_runs
    return of_runs.union(select(oltp_run.c[f"{table}_id"]).where(oltp_run.c.id.in_(oltp)))


def _write(connection: Connection, table: Table, wanted: Select[Any], folder: Path) -> FileFacts:
    file, schema, rows = file_of(folder, table.name), arrow_schema(table), 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(_batches(connection, wanted, schema)):
            rows += group.num_rows
            writer.write_table(group, row_group_size=_GROUP_ROWS)
    synced(file)
    return FileFacts.of(file, rows)


def _batches(connection: Connection, wanted: Select[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    streaming = connection.execution_options(stream_results=True, max_row_buffer=_FETCH_ROWS)
    with streaming.execute(wanted) as result:
        for rows in result.partitions(_FETCH_ROWS):
            arrays = [
                pa.array(values, type=field.type)
                for values, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Large enough for an engine to skip through, small enough to be held."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(b.num_rows for b in held) >= _GROUP_ROWS or sum(b.nbytes for b in held) >= _GROUP_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


# The folder -------------------------------------------------------------------------
def _refuse_occupied(target: Path) -> None:
    if target.is_dir():
        if next(target.iterdir(), None) is not None:
            raise UsageError(f"{target} is not empty", "name a new folder for the export")
    elif target.exists():
        raise UsageError(f"{target} is no folder", "name a new folder for the export")
    elif not target.parent.is_dir():
        raise UsageError(
            f"there is no folder {target.parent} for {target.name}",
            f"make it first: mkdir -p {target.parent}",
        )


@contextmanager
def _whole_or_not(target: Path) -> Iterator[Path]:
    """A neighbour to write to, which takes the target's place if all went well."""
    partial: Path | None = None
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        yield partial
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o777 & ~mask)
        synced(partial)
        partial.rename(target)
        partial = None
        synced(target.parent)
    except (OSError, pa.ArrowException) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        raise ExportFailed(
            f"the export {target} could not be written: {said}; nothing half-written is left",
            "make room or name a folder that you may write, on another disk perhaps",
        ) from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)
