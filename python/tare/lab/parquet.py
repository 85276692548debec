"""The layout of an export: a folder with a Parquet file for each table of the lab, and lab.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import JSON, Boolean, Column, Double, Integer, LargeBinary, Table, Text

from tare.dbms.base import Role
from tare.errors import ForeignFile, LabTooNew
from tare.files import read_named
from tare.lab.migrations import VERSION as SCHEMA
from tare.lab.schema_oltp import BELOW, oltp_run
from tare.lab.states import QatCState, RunState
from tare.measure.choices import CacheState
from tare.measure.records import Fate, Outcome

FORMAT = "tare lab export"
VERSION = 1
DESCRIPTION = "lab.json"
AGAIN = "export the runs again with `tare lab export`, or copy the whole folder anew"

TABLES: tuple[str, ...] = (
    "experiment", "dbms", "machine", "run", "query", "qatc", "qe", "process", "cpu", "reading", "audit",
)  # fmt: skip
"""Tables of experiments. A table comes after those it refers to."""

OLTP_TABLES: tuple[str, ...] = (oltp_run.name, *(table.name for table in BELOW))
"""Tables of transactional runs, there if the export holds one. They refer to dbms and machine, too."""

_SCHEMAS = ("0001", SCHEMA)
"""Whose tables of experiments are the same."""

WORDS: Mapping[tuple[str, str], type[StrEnum]] = {
    ("run", "state"): RunState,
    ("run", "cache"): CacheState,
    ("qatc", "state"): QatCState,
    ("qe", "outcome"): Outcome,
    ("process", "role"): Role,
    ("process", "fate"): Fate,
}
"""Columns that hold one of few words."""

_MOST_DESCRIPTION_BYTES = 16 << 20


def file_of(folder: Path, table: str) -> Path:
    return folder / f"{table}.parquet"


def columns(table: Table) -> list[Column[Any]]:
    return list(table.columns)


def arrow_schema(table: Table) -> pa.Schema:
    """Whole numbers are int64 throughout; JSON is text."""
    return pa.schema(
        [
            pa.field(column.name, _arrow_type(column), nullable=bool(column.nullable))
            for column in table.columns
        ]
    )


def _arrow_type(column: Column[Any]) -> pa.DataType:
    if isinstance(column.type, Boolean):
        return pa.bool_()
    if isinstance(column.type, LargeBinary):
        return pa.binary()
    if isinstance(column.type, Text | JSON):
        return pa.string()
    if isinstance(column.type, Double):
        return pa.float64()
    assert isinstance(column.type, Integer)
    return pa.int64()


@dataclass(frozen=True, slots=True)
class FileFacts:
    rows: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, file: Path, rows: int) -> FileFacts:
        """Return the facts of a file that has been written. Raises OSError."""
        with file.open("rb") as stream:
            return cls(rows, file.stat().st_size, sha256(stream))


@dataclass(frozen=True, slots=True)
class Description:
    """lab.json: what the folder says of itself."""

    tare: str
    exported_at: str
    runs: tuple[str, ...]  # uuids
    files: Mapping[str, FileFacts]  # by table
    oltp_runs: tuple[str, ...] = ()  # uuids

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables that the folder must hold."""
        return (*TABLES, *(OLTP_TABLES if any(name in self.files for name in OLTP_TABLES) else ()))

    def as_text(self) -> str:
        document = {
            "format": FORMAT,
            "version": VERSION,
            "schema": SCHEMA,
            "tare": self.tare,
            "exported_at": self.exported_at,
            "runs": list(self.runs),
            **({"oltp_runs": list(self.oltp_runs)} if self.oltp_runs else {}),
            "tables": {table: asdict(facts) for table, facts in self.files.items()},
        }
        return json.dumps(document, indent=1) + "\n"


def described(folder: Path) -> Description:
    """Raises ForeignFile, or LabTooNew for what a later Tare exported."""
    file = folder / DESCRIPTION
    try:
        said = read_named(file, FORMAT, _MOST_DESCRIPTION_BYTES)
        _refuse_newer(folder, said)
        return Description(
            tare=str(said["tare"]),
            exported_at=str(said["exported_at"]),
            runs=tuple(str(uuid) for uuid in said["runs"]),
            oltp_runs=tuple(str(uuid) for uuid in said.get("oltp_runs", ())),
            files={
                table: FileFacts(int(facts["rows"]), int(facts["bytes"]), str(facts["sha256"]))
                for table, facts in said["tables"].items()
            },
        )
    except FileNotFoundError as error:
        raise ForeignFile(
            f"{folder} is no export of a lab: it has no {DESCRIPTION}",
            "name a folder that `tare lab export --parquet` wrote",
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ForeignFile(f"{file} is damaged, or of no export of a lab: {_said(error)}", AGAIN) from error


def _refuse_newer(folder: Path, said: Mapping[str, Any]) -> None:
    version, schema = int(said["version"]), str(said["schema"])
    if version > VERSION or (schema.isdigit() and schema > SCHEMA):
        raise LabTooNew(
            f"the export {folder} is of a later Tare ({said.get('tare')}): format {version}, schema {schema}; "
            f"this Tare knows {VERSION} and {SCHEMA}",
            "update Tare (pip install --upgrade tare-db)",
        )
    if version != VERSION or schema not in _SCHEMAS:
        raise ValueError(f"format {version}, schema {schema} has never been")


def sha256(stream: BufferedReader) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()


def table_of(name: str) -> Table:
    return oltp_run.metadata.tables[name]


def _said(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    return (str(error).splitlines() or [type(error).__name__])[0]
