"""Writes the synthetic lab in bulk: as an export's Parquet files, or into a new SQLite lab."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path

import adbc_driver_sqlite.dbapi
import pyarrow as pa
import pyarrow.parquet as pq

from tare.lab.parquet import (
    DESCRIPTION,
    TABLES,
    Description,
    FileFacts,
    arrow_schema,
    file_of,
    table_of,
)
from tare.lab.store import open_lab

EXPORTED_AT = "2026-01-01T00:00:00.000+00:00"

Chunks = Iterable[tuple[str, pa.Table]]


def write_parquet(folder: Path, made: Chunks) -> None:
    """An export of the synthetic lab, in a folder that is made."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(
                pq.ParquetWriter(file_of(folder, name), arrow_schema(table_of(name)), compression="zstd")
            )
            for name in TABLES
        }
        for name, table in made:
            writers[name].write_table(table)
    runs = pq.read_table(file_of(folder, "run"), columns=["uuid"])["uuid"].to_pylist()
    facts = {name: _facts(file_of(folder, name)) for name in TABLES}
    said = Description(version("tare-db"), EXPORTED_AT, tuple(runs), facts)
    (folder / DESCRIPTION).write_text(said.as_text(), encoding="utf-8")


def _facts(file: Path) -> FileFacts:
    return FileFacts.of(file, pq.read_metadata(file).num_rows)


def write_lab(file: Path, made: Chunks) -> None:
    """Into a lab that is made. In large transactions, without waiting for the disk."""
    open_lab(str(file), create=True).close()
    with (
        closing(adbc_driver_sqlite.dbapi.connect(str(file))) as connection,
        closing(connection.cursor()) as cursor,
    ):
        for name, table in made:
            cursor.adbc_ingest(name, table, mode="append")
            connection.commit()
