"""Shared buffers and data files of a PostgreSQL: what is in memory, and how to empty it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import servers
from tare.dbms.base import BufferResidency
from tare.dbms.postgresql import restart
from tare.errors import CacheNotCleared, StatementFailed

if TYPE_CHECKING:
    from tare.dbms.postgresql.session import PostgreSQLSession

DATABASE_OID = "SELECT oid::int8 FROM pg_database WHERE datname = current_database()"

_EXTENSION = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_buffercache'"
_HELD = (
    "SELECT count(*) * current_setting('block_size')::int8 FROM pg_buffercache "
    "WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())"
)

# A relation's main, free-space, visibility or init fork, and its 1 GB segments.
_RELATION_FILE = re.compile(r"^\d+(_(fsm|vm|init))?(\.\d+)?$")


def database_files(directory: Path, oid: int) -> list[Path]:
    """The database's own files in the default and all other tablespaces; the shared catalogs in
    `global/` belong to no database. Empty where this user may not look into the directory."""
    places = [directory / "base" / str(oid)]
    try:
        places += (directory / "pg_tblspc").glob(f"*/PG_*/{oid}")
        return sorted(
            file
            for place in places
            if place.is_dir()
            for file in place.iterdir()
            if _RELATION_FILE.match(file.name)
        )
    except PermissionError:
        return []


def is_own_file(directory: Path | None, path: Path) -> bool:
    """What the server keeps for itself: its catalogues, its log of changes, temporary files, shared memory. The
    folder of its message log is not among it: `file_fdw` reads that."""
    if path.is_relative_to("/dev/shm") or "pgsql_tmp" in path.parts:
        return path.name.startswith(("PostgreSQL.", "pgsql_tmp"))
    if directory is None or not path.is_relative_to(directory.resolve()):
        return False
    top = path.relative_to(directory.resolve()).parts[0]
    return top in ("base", "global") or (top.startswith("pg_") and top != "pg_log")


def checkpoint(session: PostgreSQLSession) -> None:
    try:
        session.run("CHECKPOINT")
    except StatementFailed as error:
        raise CacheNotCleared(
            f"dirty pages could not be written out: {error.what}",
            "connect as a superuser or a member of pg_checkpoint (PostgreSQL 15 and later)",
        ) from error


def residency(session: PostgreSQLSession) -> BufferResidency | None:
    """None unless the user has installed pg_buffercache and may read it."""
    if not session.value(_EXTENSION):
        return None
    try:
        return BufferResidency(resident_bytes=int(session.value(_HELD)), how="pg_buffercache")
    except StatementFailed:
        return None


def clear(session: PostgreSQLSession) -> str:
    """Eviction where the server can (17, 18), else a restart where it is allowed."""
    refused = "pg_buffercache is not installed in this database"
    if session.value(_EXTENSION):
        try:
            return _evict(session)
        except StatementFailed as error:
            refused = error.what
    return _restart(session, refused)


def _evict(session: PostgreSQLSession) -> str:
    if session.value("SELECT count(*) FROM pg_proc WHERE proname = 'pg_buffercache_evict_all'"):
        session.value("SELECT buffers_evicted FROM pg_buffercache_evict_all()")
        return "pg_buffercache_evict_all()"
    session.value(
        "SELECT count(pg_buffercache_evict(bufferid)) FROM pg_buffercache WHERE relfilenode IS NOT NULL"
    )
    return "pg_buffercache_evict()"


def _restart(session: PostgreSQLSession, refused: str) -> str:
    directory = session.server.data_directory
    ours = servers.of_data_directory(directory) if directory else None
    if ours is not None:
        servers.restart(ours)
    elif session.allow_restart and directory is not None:
        leader = session.leader()
        restart.foreign(directory, leader.pid if leader else None)
    else:
        raise CacheNotCleared(
            f"the server's shared buffers cannot be emptied: {refused}",
            "allow a restart (--allow-restart), use a server from `tare server start postgresql`, or on "
            "PostgreSQL 17 and later CREATE EXTENSION pg_buffercache and connect as a superuser",
        )
    session.reconnect()
    return "restart"
