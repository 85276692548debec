"""Loading of TPC-H's CSV files into a database through its adapter: tables, rows, indexes, statistics."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.dbms.base import Session
from tare.errors import TareError
from tare.workload.tpch.schema import INDEXES, TABLES

_ANALYZE = {
    "postgresql": "VACUUM ANALYZE {table}",
    "mariadb": "ANALYZE TABLE {table}",
    "mysql": "ANALYZE TABLE {table}",
}
"""Statements that gather statistics, of DBMSs other than SQLite and DuckDB. PostgreSQL's sets hint bits, too."""


def load(session: Session, folder: Path) -> None:
    """Make the tables in a database that has none of them, and load the .csv files of the folder.

    A load that fails drops the tables that it made. Raises StatementFailed and ServerLost."""
    made: list[str] = []
    try:
        for table in TABLES:
            session.run(table.create)
            made.append(table.name)
            with without_header(folder / f"{table.name}.csv") as rows:
                session.load(table.name, rows)
        _finish(session)
    except (TareError, KeyboardInterrupt):
        for name in reversed(made):
            with suppress(TareError):
                session.run(f"DROP TABLE {name}")
        raise


def _finish(session: Session) -> None:
    """Make the indexes, gather statistics and write the pages."""
    dbms = session.server.dbms
    if dbms != "duckdb":  # it joins by hash
        for index in INDEXES:
            session.run(index)
    for table in TABLES:
        session.run(_ANALYZE.get(dbms, "ANALYZE {table}").format(table=table.name))
    session.flush()


@contextmanager
def without_header(file: Path) -> Iterator[Path]:
    """Copy the file without its first line, which adapters would read as a row. The copy ends with the block."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".tpch.") as folder:
        copy = Path(folder, file.name)
        with file.open("rb") as source, copy.open("wb") as target:
            source.readline()
            shutil.copyfileobj(source, target, 1 << 20)
        yield copy
