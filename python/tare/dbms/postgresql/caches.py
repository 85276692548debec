"""Shared buffers and data files of a PostgreSQL: what is in memory, and how to empty it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms.base import BufferResidency
from tare.dbms.postgresql import restart
from tare.errors import CacheNotCleared, StatementFailed

if TYPE_CHECKING:
    from tare.dbms.postgresql.session import PostgreSQLSession

DATABASE_OID = "SELECT oid::int8 FROM pg_database WHERE datname = current_database()"

_EXTENSION = (
    "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace "
    "WHERE extname = 'pg_buffercache'"
)
_HELD = (
    "SELECT count(*) * current_setting('block_size')::int8 FROM {schema}.pg_buffercache "
    "WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_EVICTS_ALL = (
    "SELECT 1 FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace "
    "WHERE proname = 'pg_buffercache_evict_all' AND quote_ident(nspname) = '{schema}'"
)
_EVICT_ALL = "SELECT buffers_evicted FROM {schema}.pg_buffercache_evict_all()"
_EVICT_EACH = (
    "SELECT count({schema}.pg_buffercache_evict(bufferid)) FROM {schema}.pg_buffercache "
    "WHERE relfilenode IS NOT NULL"
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
    """Whether a file is the server's own: its catalogues, its log of changes, temporary files, shared memory. The
    folder of its message log is not among it: `file_fdw` reads that."""
    if path.is_relative_to("/dev/shm") or "pgsql_tmp" in path.parts:
        return path.name.startswith(("PostgreSQL.", "pgsql_tmp"))
    if directory is None or not path.is_relative_to(directory.resolve()):
        return False
    top = path.relative_to(directory.resolve()).parts[0]
    return top in ("base", "global") or (top.startswith("pg_") and top != "pg_log")


def checkpoint(session: PostgreSQLSession) -> None:
    try:
        session.own.script("CHECKPOINT")
    except StatementFailed as error:
        raise CacheNotCleared(
            f"dirty pages could not be written out: {error.what}",
            "connect as a superuser or a member of pg_checkpoint (PostgreSQL 15 and later)",
        ) from error


def residency(session: PostgreSQLSession) -> BufferResidency | None:
    """None unless the user has installed pg_buffercache and may read it."""
    schema = _schema(session)
    if schema is None:
        return None
    try:
        ((held,),) = session.own.query(_HELD.format(schema=schema))
    except StatementFailed:
        return None
    return BufferResidency(resident_bytes=int(str(held)), how="pg_buffercache")


def _schema(session: PostgreSQLSession) -> str | None:
    """The schema that pg_buffercache is in, ready for SQL; None if this database does not have it."""
    return next((str(name) for (name,) in session.own.query(_EXTENSION)), None)


def clear(session: PostgreSQLSession) -> str:
    """Eviction where the server can (17, 18), else a restart where it is allowed."""
    refused = "pg_buffercache is not installed in this database"
    schema = _schema(session)
    if schema is not None:
        try:
            return _evict(session, schema)
        except StatementFailed as error:
            refused = error.what
    return _restart(session, refused)


def _evict(session: PostgreSQLSession, schema: str) -> str:
    if session.own.query(_EVICTS_ALL.format(schema=schema.replace("'", "''"))):
        session.own.query(_EVICT_ALL.format(schema=schema))
        return "pg_buffercache_evict_all()"
    session.own.query(_EVICT_EACH.format(schema=schema))
    return "pg_buffercache_evict()"


def _restart(session: PostgreSQLSession, refused: str) -> str:
    if restart.refusal(session.server.data_directory, is_allowed=session.allow_restart):
        raise CacheNotCleared(
            f"the server's shared buffers cannot be emptied: {refused}",
            "allow a restart (--allow-restart), use a server from `tare server start postgresql`, or on "
            "PostgreSQL 17 and later CREATE EXTENSION pg_buffercache and connect as a superuser",
        )
    session.restart()
    session.reconnect()
    return "restart"
