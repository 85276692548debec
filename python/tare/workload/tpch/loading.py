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


def load(session: Session, folder: Path) -> None:
    """Make the tables in an empty database and load the .csv files of the folder. If it fails, drop what it made.

    Raises StatementFailed."""
    made: list[str] = []
    try:
        for table in TABLES:
            session.run(table.create())
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
    """A copy of the file without its first line, which adapters would read as a row."""
    with tempfile.TemporaryDirectory(prefix="tare-tpch-") as folder:
        copy = Path(folder, file.name)
        with file.open("rb") as source, copy.open("wb") as target:
            source.readline()
            shutil.copyfileobj(source, target, 1 << 20)
        yield copy
