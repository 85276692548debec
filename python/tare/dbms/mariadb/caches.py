"""InnoDB's buffer pool and data files: what is in memory, and how to empty it.

With `innodb_flush_method=O_DIRECT` (MariaDB's default since 10.6) data files have no pages in
the page cache: there, "cold" is the buffer pool's affair alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms.base import BufferResidency
from tare.dbms.mariadb import restart
from tare.errors import CacheNotCleared, StatementFailed

if TYPE_CHECKING:
    from tare.dbms.mariadb.session import MariaDBSession

WRITE_OUT_S = 60.0

_DEFINITIONS = frozenset({".frm", ".opt", ".par", ".isl", ".TRG", ".TRN", ".sdi"})
_SYSTEM = frozenset({"mysql", "performance_schema", "sys"})
_SHARED = re.compile(r"^(ibdata\d+|undo\d+|undo_\d+)$")
_ENCODED = re.compile(r"@([0-9a-f]{4})")
_INDEXES = frozenset({".MAI", ".MYI"})
_DIRTY = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"
_CHECKPOINT = "innodb_log_checkpoint_now"
# In the order in which none is ever past the other of its pair.
_EAGER = {
    "innodb_max_dirty_pages_pct_lwm": 0,
    "innodb_max_dirty_pages_pct": 0,
    "innodb_io_capacity_max": 100_000,  # pages a second
    "innodb_io_capacity": 100_000,
}
_POOL = (
    "SELECT CAST(SUM(DATABASE_PAGES) * @@innodb_page_size AS SIGNED) "
    "FROM information_schema.INNODB_BUFFER_POOL_STATS"
)


def database_files(directory: Path, database: str | None) -> list[Path]:
    """Tables of the database, and the tablespaces shared by all (system, undo). Empty where this
    user may not look into the directory."""
    try:
        shared = [path for path in directory.iterdir() if _SHARED.match(path.name)]
        folder = directory / _folder_name(database or "")
        own = [path for path in folder.iterdir() if path.suffix not in _DEFINITIONS] if database else []
        return sorted(shared + own)
    except (PermissionError, FileNotFoundError):
        return []


def file_names(files: Iterable[Path], database: str | None) -> dict[Path, str]:
    """Names of the files of tables as `database.table`, of all others as they are in their folder."""
    folder = _folder_name(database or "")
    return {
        path: f"{database}.{_table_name(path)}" if path.parent.name == folder else path.name for path in files
    }


def _table_name(path: Path) -> str:
    """Return the table of a file. Its name has a character other than a letter, a digit or _ as @ and four digits."""
    table = _ENCODED.sub(lambda found: chr(int(found[1], 16)), path.stem)
    return f"{table} (indexes)" if path.suffix in _INDEXES else table


def is_own_file(directory: Path | None, path: Path) -> bool:
    """Whether a file is the server's own: its logs, its system databases, definitions and temporary tables. A table of
    another database is none of it."""
    if path.name.startswith(("#sql", "ML", "ibtmp")) or path.suffix in _DEFINITIONS:
        return True
    if directory is None or not path.is_relative_to(directory.resolve()):
        return False
    folders = path.relative_to(directory.resolve()).parts[:-1]
    return not folders or folders[0] in _SYSTEM


def write_out(session: MariaDBSession) -> None:
    """A checkpoint where the server has one to ask for (MariaDB from 10.6.12 and 10.11.2 on, MDEV-30000). Else
    its limits for dirty pages are 0 for a moment, and those for writing out of the way: by its usual 200 pages a
    second a load of 60 MB takes 40 s. They are put back."""
    if _dirty(session) == 0:
        return
    try:
        if session.own.query(f"SHOW GLOBAL VARIABLES LIKE '{_CHECKPOINT}'"):
            _await_clean(session, f"SET GLOBAL {_CHECKPOINT} = ON")
        else:
            with _eager(session):
                _await_clean(session)
    except StatementFailed as error:
        raise CacheNotCleared(
            f"dirty pages could not be written out: {error.what}",
            "connect as a user who may SET GLOBAL, or wait until the server has written them",
        ) from error
    left = _dirty(session)
    if left:
        raise CacheNotCleared(
            f"{left} pages are still dirty after {WRITE_OUT_S:g} s", "stop what writes to the server"
        )


def _await_clean(session: MariaDBSession, ask: str | None = None) -> None:
    deadline = time.monotonic() + WRITE_OUT_S
    while _dirty(session) > 0 and time.monotonic() < deadline:
        if ask:
            session.own.script(ask)
        else:
            time.sleep(0.02)


@contextmanager
def _eager(session: MariaDBSession) -> Iterator[None]:
    before = {name: session.own.query(f"SELECT @@GLOBAL.{name}")[0][0] for name in _EAGER}
    try:
        for name, value in _EAGER.items():
            session.own.query(f"SET GLOBAL {name} = {value}")
        yield
    finally:
        for name in reversed(before):
            session.own.query(f"SET GLOBAL {name} = {before[name]}")


def residency(session: MariaDBSession) -> BufferResidency | None:
    """Pages of all databases: the statistics tell them not apart. None without the PROCESS right."""
    try:
        ((held,),) = session.own.query(_POOL)
    except StatementFailed:
        return None
    return BufferResidency(resident_bytes=int(held or 0), how="innodb_buffer_pool_stats (all databases)")


def clear(session: MariaDBSession) -> str:
    """FLUSH TABLES leaves the buffer pool as it is: only a restart empties it."""
    if restart.refusal(session):
        raise CacheNotCleared(
            "InnoDB's buffer pool can only be emptied by a restart of the server",
            "allow it (--allow-restart), or use a server from `tare server start mariadb`",
        )
    session.restart()
    session.reconnect()
    return "restart"


def _dirty(session: MariaDBSession) -> int:
    return int(session.own.query(_DIRTY)[0][1])


def _folder_name(database: str) -> str:
    """The server's own encoding of names that are not plain."""
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter == "_") else f"@{ord(letter):04x}"
        for letter in database
    )
