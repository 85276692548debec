"""Connections to a lab: SQLite in WAL with every commit on disk, or PostgreSQL by URL."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from tare.errors import LabError

if TYPE_CHECKING:
    import psycopg

WRITES = "tare_writes"
"""Execution option of a transaction that will write: SQLite then takes its lock at the beginning."""

_BUSY_S = 30.0
_AGAIN_S = 0.01

_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "application_name": "tare lab",
}
"""Connection parameters that a URL need not give; a server that fell silent is found out in a minute."""


def sqlite_engine(path: Path, *, create: bool) -> Engine:
    """On a file, made if `create`. A lab that this user cannot write to is read as it stands."""
    mode = "rwc" if create else "rw"
    frozen = path.exists() and not all(
        os.access(place, os.W_OK, effective_ids=True) for place in (path, path.parent)
    )
    if frozen:
        _refuse_unfinished(path)
        mode = "ro&immutable=1"
    uri = f"file:{quote(str(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        # Transactions are begun by us alone, else a read would see more than one state of the lab.
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _record: Any) -> None:
        if not frozen:
            journal = _write_ahead(connection)
            if journal != "wal":
                raise LabError(
                    f"{path} lies where SQLite cannot write and be read at once (journal mode {journal})",
                    "put the lab on a local disk, or use a PostgreSQL lab",
                )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Switches to WAL and returns the journal mode that then holds.

    Of connections that switch a new file at once SQLite refuses some as busy, without the wait that its time-out
    grants elsewhere."""
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return str(journal)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(_AGAIN_S)


def postgresql_engine(url: str) -> Engine:
    """By libpq URL. Each transaction begins on a connection that was found alive."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    engine = create_engine("postgresql+psycopg://", pool_pre_ping=True, poolclass=QueuePool)

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, _arguments: Any, parameters: dict[str, Any]) -> Any:
        given: dict[str, Any] = conninfo_to_dict(url)
        return psycopg.connect(**{**_PATIENCE, **given, **parameters})

    @event.listens_for(engine, "connect")
    def _set_up(connection: psycopg.Connection[Any], _record: Any) -> None:
        # A commit that is said to be done must outlive a power cut.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )
        connection.commit()

    return engine


def _refuse_unfinished(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise LabError(
            f"{path} is being written, or was left unfinished, and you may not write to it",
            "copy the lab with its -wal file to a folder of your own, or read it as its owner",
        )
