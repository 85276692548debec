"""Errors of a lab's engine, as errors of Tare with the next step.

psycopg is loaded when something has failed, not before: most labs are files, and it takes a tenth of a second.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tare.dbms.url import scrubbed
from tare.errors import LabError, LabFull, LabLost

if TYPE_CHECKING:
    import psycopg

_LEAST_ROOM = 1 << 20
"""With fewer bytes free than this, an input/output error is taken for a full disk (a quota says no more)."""

_DISK_FULL = "53100"


@contextmanager
def told(where: str, path: Path | None = None, secrets: Sequence[str] = ()) -> Iterator[None]:
    """Raises LabError, LabFull or LabLost for whatever the engine raises. `where` and `secrets`: the lab as it
    may be shown, and the password that no message may hold."""
    try:
        yield
    except DBAPIError as error:
        raise explained(error.orig or error, where, path, secrets) from error
    except (sqlite3.Error, _psycopg_error()) as error:
        raise explained(error, where, path, secrets) from error
    except (StatementError, PoolTimeout, OverflowError) as error:
        raise LabError(
            f"the lab {where} cannot be used: {scrubbed(first_line(error), *secrets)}",
            "see what it names, and try again",
        ) from error


def explained(error: BaseException, where: str, path: Path | None, secrets: Sequence[str] = ()) -> LabError:
    if isinstance(error, sqlite3.Error):
        return _sqlite(error, where, path)
    if isinstance(error, _psycopg_error()):
        return _postgresql(error, where, secrets)
    return LabError(
        f"the lab {where} cannot be used: {scrubbed(first_line(error), *secrets)}",
        "see what it names, and try again",
    )


def _psycopg_error() -> type[psycopg.Error]:
    from psycopg import Error

    return Error


def _sqlite(error: sqlite3.Error, where: str, path: Path | None) -> LabError:
    said = first_line(error)
    code = getattr(error, "sqlite_errorcode", None) or 0
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(path)):
        return LabFull(
            f"the disk of the lab {where} is full: nothing is torn, and what was recorded is kept",
            "make room, then go on with `tare experiment resume`",
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "malformed" in said:
        return LabError(
            f"{where} is damaged, or no lab: {said}",
            "take another copy of it, or begin a new lab with another --lab",
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LabError(
            f"the lab {where} is locked: another process has been writing to it for long",
            "wait until it is done, or end it",
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return LabError(
            f"the lab {where} cannot be opened or written: {said}",
            "see that the file and its folder are there and that you may write both",
        )
    return LabError(f"the lab {where} failed: {said}", "see what it names; what was recorded is kept")


def _postgresql(error: psycopg.Error, where: str, secrets: Sequence[str]) -> LabError:
    said = scrubbed(first_line(error), *secrets)
    if error.sqlstate == _DISK_FULL:
        return LabFull(
            f"the disk of the lab {where} is full: nothing is torn, and what was recorded is kept",
            "make room on the server's disk, then go on with `tare experiment resume`",
        )
    if lost(error):
        return LabLost(
            f"the lab {where} cannot be reached: {said}",
            "see that its server runs and lets you in; a run can then be gone on with: `tare experiment resume`",
        )
    return LabError(f"the lab {where} failed: {said}", "see what it names; what was recorded is kept")


def lost(error: psycopg.Error) -> bool:
    """The connection is gone, or never came about: the server may be back in a while."""
    import psycopg

    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith("08") or state in ("57P01", "57P02", "57P03", "57P05", "53300", "25P03")


def _no_room(path: Path | None) -> bool:
    if path is None:
        return False
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_ROOM


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or its type where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
