"""An export as it came from elsewhere: every file is held against lab.json and the schema before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlalchemy import JSON, Table

from tare.errors import ForeignFile
from tare.lab.parquet import (
    ADDED,
    AGAIN,
    WORDS,
    FileFacts,
    arrow_schema,
    described,
    file_of,
    sha256,
    table_of,
)
from tare.lab.remap import Ids

_BATCH_ROWS = 8_192


def fault(file: Path, why: str) -> ForeignFile:
    return ForeignFile(f"{file} cannot be imported: {why}", AGAIN)


class Export:
    """An open export; its files stay open, so that what was checked is what is read.

    Raises ForeignFile naming the file and what is wrong, or LabTooNew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.description = described(folder)
        self._open = ExitStack()
        self._parquet: dict[str, pq.ParquetFile] = {}
        try:
            for name in self.description.tables:
                self._parquet[name] = self._checked(name)
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Export:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def file(self, table: str) -> Path:
        return file_of(self.folder, table)

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """All rows, some at a time, each of the schema's types and words."""
        table = table_of(name)
        try:
            for batch in self._parquet[name].iter_batches(_BATCH_ROWS):
                for column in self._lacking(name):
                    nulls = pa.nulls(batch.num_rows, arrow_schema(table).field(column).type)
                    batch = batch.append_column(column, nulls)
                whole = _with_defaults(table, batch)
                self._check_values(table, whole)
                yield whole
        except (pa.ArrowException, OSError) as error:
            raise fault(self.file(name), str(error).splitlines()[0]) from error

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        for batch in self.batches(name):
            yield from batch.to_pylist()

    def column(self, name: str, column: str) -> Ids:
        """A whole column of numbers that are never NULL."""
        parts = [numbers(batch, column) for batch in self.batches(name)]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def _lacking(self, name: str) -> list[str]:
        """Columns of a table that the export's schema did not have."""
        return [
            column
            for (table, column), since in ADDED.items()
            if table == name and self.description.schema < since
        ]

    # Checks ----------------------------------------------------------------------
    def _checked(self, name: str) -> pq.ParquetFile:
        file = self.file(name)
        facts = self.description.files.get(name)
        if facts is None:
            raise fault(file, "lab.json does not name it")
        try:
            with file.open("rb") as stream:
                self._check_bytes(file, facts, sha256(stream))
                # The same file, opened by Arrow itself: its threads would need the interpreter to read ours, and
                # one that is still at it when the interpreter ends aborts the process.
                own = self._open.enter_context(pa.OSFile(f"/dev/fd/{stream.fileno()}"))
            parquet = pq.ParquetFile(own)
        except FileNotFoundError as error:
            raise fault(file, "it is not there") from error
        except (pa.ArrowException, OSError) as error:
            raise fault(file, str(error).splitlines()[0]) from error
        self._check_schema(name, parquet.schema_arrow)
        if parquet.metadata.num_rows != facts.rows:
            raise fault(file, f"it has {parquet.metadata.num_rows} rows, and lab.json says {facts.rows}")
        return parquet

    def _check_bytes(self, file: Path, facts: FileFacts, found: str) -> None:
        if found != facts.sha256:
            raise fault(file, "it is damaged or changed: its SHA-256 is not the one in lab.json")

    def _check_schema(self, name: str, found: pa.Schema) -> None:
        lacking = self._lacking(name)
        wanted = {
            field.name: field.type
            for field in arrow_schema(table_of(name))
            if field.name in found.names
            or not (field.name in lacking or _has_default(table_of(name), field.name))
        }
        types = dict(zip(found.names, found.types, strict=True))
        for column in wanted.keys() | types.keys():
            if types.get(column) != wanted.get(column):
                raise fault(
                    self.file(name),
                    f"column {column} is {types.get(column, 'missing')}, "
                    f"and should be {wanted.get(column, 'missing')}",
                )
        if found.names != list(wanted):
            raise fault(self.file(name), "its columns are in another order")

    def _check_values(self, table: Table, batch: pa.RecordBatch) -> None:
        file = self.file(table.name)
        for column in table.columns:
            values = batch.column(column.name)
            if not column.nullable and values.null_count:
                raise fault(file, f"{column.name} is NULL in a row")
            if (words := WORDS.get((table.name, column.name))) is not None:
                for word in pc.unique(values).to_pylist():
                    if word not in set(words):
                        raise fault(file, f"{column.name} is {word!r} in a row")
            if isinstance(column.type, JSON):
                for text in pc.unique(values).to_pylist():
                    self._check_json(file, column.name, text)

    def _check_json(self, file: Path, column: str, text: str | None) -> None:
        try:
            if text is not None:
                json.loads(text)
        except (ValueError, RecursionError) as error:
            raise fault(file, f"{column} is no JSON in a row: {error}") from error


def _has_default(table: Table, column: str) -> bool:
    return table.c[column].server_default is not None


def _with_defaults(table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with 0 in the counts that an earlier Tare did not have."""
    for column in table.columns:
        if column.name not in batch.schema.names:
            batch = batch.append_column(column.name, pa.array(np.zeros(batch.num_rows, dtype=np.int64)))
    return batch


def numbers(batch: pa.RecordBatch, column: str) -> Ids:
    found: Ids = batch.column(column).to_numpy(zero_copy_only=False)
    return found
