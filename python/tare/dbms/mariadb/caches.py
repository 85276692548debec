"""InnoDB's buffer pool and data files: what is in memory, and how to empty it.

With `innodb_flush_method=O_DIRECT` (MariaDB's default since 10.6) data files have no pages in
the page cache: there, "cold" is the buffer pool's affair alone.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms import servers
from tare.dbms.base import BufferResidency
from tare.dbms.mariadb import restart
from tare.errors import CacheNotCleared, StatementFailed

if TYPE_CHECKING:
    from tare.dbms.mariadb.session import MariaDBSession

WRITE_OUT_S = 60.0

_SUFFIXES = frozenset({".ibd", ".MYD", ".MYI", ".MAD", ".MAI"})
_SHARED = re.compile(r"^(ibdata\d+|undo\d+|undo_\d+)$")
_DIRTY = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"
_LIMITS = ("innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm")
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
        own = [path for path in folder.iterdir() if path.suffix in _SUFFIXES] if database else []
        return sorted(shared + own)
    except (PermissionError, FileNotFoundError):
        return []


def write_out(session: MariaDBSession) -> None:
    """InnoDB has no statement for it: its limits for dirty pages are 0 for a moment, and put back."""
    if _dirty(session) == 0:
        return
    before = {name: session.value(f"SELECT @@GLOBAL.{name}") for name in _LIMITS}
    try:
        try:
            for name in reversed(_LIMITS):  # the low-water mark may not exceed the limit
                session.run(f"SET GLOBAL {name} = 0")
            deadline = time.monotonic() + WRITE_OUT_S
            while _dirty(session) > 0 and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            for name, value in before.items():
                session.run(f"SET GLOBAL {name} = {value}")
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


def residency(session: MariaDBSession) -> BufferResidency | None:
    """Pages of all databases: the statistics tell them not apart. None without the PROCESS right."""
    try:
        held = session.value(_POOL)
    except StatementFailed:
        return None
    return BufferResidency(resident_bytes=int(held or 0), how="innodb_buffer_pool_stats (all databases)")


def clear(session: MariaDBSession) -> str:
    """FLUSH TABLES leaves the buffer pool as it is: only a restart empties it."""
    directory = session.server.data_directory
    ours = servers.of_data_directory(Path(str(directory).rstrip("/"))) if directory else None
    leader = session.leader()
    if ours is not None:
        servers.restart(ours)
    elif session.allow_restart and leader is not None:
        restart.foreign(session, leader.pid)
    else:
        raise CacheNotCleared(
            "InnoDB's buffer pool can only be emptied by a restart of the server",
            "allow it (--allow-restart), or use a server from `tare server start mariadb`",
        )
    session.reconnect()
    return "restart"


def _dirty(session: MariaDBSession) -> int:
    return int(session.rows(_DIRTY)[0][1])


def _folder_name(database: str) -> str:
    """The server's own encoding of names that are not plain."""
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter == "_") else f"@{ord(letter):04x}"
        for letter in database
    )
