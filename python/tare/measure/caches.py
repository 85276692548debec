"""Cold, lukewarm and warm: how each is reached, and the proof taken before the clock (TTPv2 §3.1)."""

from __future__ import annotations

from tare._probe import evict, residency
from tare.dbms.base import Session
from tare.errors import CacheNotCleared
from tare.measure.choices import CacheState
from tare.measure.records import Residence

CLEARS_DBMS = frozenset({CacheState.COLD, CacheState.LUKEWARM_DBMS})
CLEARS_OS = frozenset({CacheState.COLD, CacheState.LUKEWARM_OS})


def reach(session: Session, state: CacheState) -> str | None:
    """Empties what `state` asks for; says how the DBMS's own buffers were emptied, if they were.

    The DBMS goes first: what it reads while it starts again is evicted with the
    rest. Raises CacheNotCleared with what would make it possible.
    """
    if state in CLEARS_OS and not session.data_files():
        raise CacheNotCleared(
            f"the files of {session.server.url} are not known or not readable to this user",
            "run Tare on the server's machine as the server's user or as root, or weigh it warm",
        )
    if state is not CacheState.WARM:
        session.flush()
    emptied = session.clear_buffers() if state in CLEARS_DBMS else None
    if state in CLEARS_OS:
        try:
            evict([str(path) for path in session.data_files() if path.is_file()])
        except OSError as error:
            raise CacheNotCleared(
                f"the page cache could not be asked to let go of the database's files: {error}",
                "run as the server's user or as root, or weigh with a warm cache",
            ) from error
    return emptied


def residence(session: Session, emptied: str | None) -> Residence:
    """Bytes that are in memory now; None if this user cannot look. `emptied`: the result of `reach`."""
    buffers = session.buffer_residency()
    resident = size = None
    how = "the database's files are not visible to this user"
    files = [str(path) for path in session.data_files() if path.is_file()]
    if files:
        try:
            found = residency(files)
        except OSError as error:
            how = str(error)
        else:
            resident = sum(file.resident * file.page_bytes for file in found)
            size = sum(file.size_bytes for file in found)
            how = found[0].how
    return Residence(
        page_cache_bytes=resident,
        file_bytes=size,
        page_cache_how=how,
        buffer_bytes=buffers.resident_bytes if buffers else None,
        buffer_how=buffers.how if buffers else "this DBMS does not tell",
        buffers_emptied=emptied,
    )
