"""A folder of an export, as DuckDB sees it: Parquet files, of which only what is asked for is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
from ibis.backends.duckdb import Backend

from tare.errors import ForeignFile, NoSuchRun
from tare.lab.columns import TABLES, columns
from tare.lab.ids import IdKind, experiment_id, fitting
from tare.lab.parquet import AGAIN, described, file_of
from tare.lab.workspace import workspace


def is_export(where: Path) -> bool:
    return where.is_dir()


def exported(folder: Path) -> Backend:
    """A DuckDB with a view on each table of the export. Raises ForeignFile and LabTooNew.

    Checksums are not looked at: that would read every file to its end.
    """
    described(folder)
    backend = workspace()
    for table in TABLES:
        file = file_of(folder, table)
        try:
            found = backend.con.read_parquet(str(file))
            missing = {column.name for column in columns(table)} - set(found.columns)
            found.create_view(table)
        except duckdb.Error as error:
            raise ForeignFile(
                f"{file} cannot be read: {str(error).strip().splitlines()[0]}", AGAIN
            ) from error
        if missing:
            raise ForeignFile(f"{file} lacks {', '.join(sorted(missing))}", AGAIN)
    return backend


def exported_runs(backend: Backend, folder: Path, asked: Sequence[str] | None) -> list[int]:
    """Run ids, of all or of those whose number or beginning of uuid was asked for. Raises NoSuchRun."""
    known = backend.con.sql("SELECT id, uuid FROM run ORDER BY id").fetchall()
    if not known:
        raise NoSuchRun(f"the export {folder} has no runs", "name another folder")
    if asked is None:
        return [number for number, _ in known]
    found = []
    for one in asked:
        fits = fitting(one, known, IdKind.EXPERIMENT)
        if len(fits) != 1:
            raise NoSuchRun(
                f"{len(fits) or 'no'} runs of the export {folder} fit {one!r}",
                f"it has {', '.join(f'{experiment_id(n)} ({u[:8]})' for n, u in known[:10])}",
            )
        found += fits
    return list(dict.fromkeys(found))
