"""Cold, lukewarm and warm: how each is reached, and the proof taken before the clock (TTPv2 §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tare._probe import evict, residency
from tare.dbms.base import Session
from tare.errors import CacheNotCleared, UsageError
from tare.files import synced
from tare.measure.choices import CacheState
from tare.measure.query_files import QueryFiles
from tare.measure.records import FileResidence, Residence

CLEARS_DBMS = frozenset({CacheState.COLD, CacheState.LUKEWARM_DBMS})
CLEARS_OS = frozenset({CacheState.COLD, CacheState.LUKEWARM_OS})


def check_state(session: Session, state: CacheState) -> None:
    """Raises UsageError if a cache is to be emptied that cannot be."""
    if session.always_warm and state is not CacheState.WARM:
        raise UsageError(
            f"--cache {state}: {session.always_warm}", "weigh it warm, or weigh a database in a file"
        )


def empty_buffers(session: Session, state: CacheState) -> str | None:
    """Writes the database out and empties the DBMS's own buffers, as far as `state` asks for it. Returns how.

    Comes before `evict_files`: what the DBMS reads while it starts again, and what set-up reads in a new session, is
    evicted with the rest. Raises CacheNotCleared with what would make it possible.
    """
    if state in CLEARS_OS and not session.data_files():
        raise CacheNotCleared(
            f"the files of {session.server.url} are not known or not readable to this user",
            "run Tare on the server's machine as the server's user or as root, or weigh it warm",
        )
    if state is not CacheState.WARM:
        session.flush()
    return session.clear_buffers() if state in CLEARS_DBMS else None


def evict_files(session: Session, state: CacheState, files: QueryFiles | None) -> None:
    """Evicts the database's files, and those outside it that the query reads, from the page cache if `state` asks
    for it. Files are never changed. Raises CacheNotCleared for a file of the database."""
    if state not in CLEARS_OS:
        return
    try:
        _let_go([str(path) for path in session.data_files() if path.is_file()])
    except OSError as error:
        raise CacheNotCleared(
            f"the page cache could not be asked to let go of the database's files: {error}",
            "run as the server's user or as root, or weigh with a warm cache",
        ) from error
    for path in files.paths if files else ():
        with suppress(OSError):  # what stays in memory is found by `residence`
            synced(path)
            evict([str(path)])


def _let_go(paths: list[str]) -> None:
    """Evicts files. Pages that stay may be dirty: some tables are written without being synced (MyISAM, or a server
    with `fsync = off`). They are synced, and evicted again."""
    evict(paths)
    left = [file.path for file in residency(paths) if file.resident]
    for path in left:
        synced(Path(path))
    evict(left)


def residence(session: Session, emptied: str | None, files: QueryFiles | None) -> Residence:
    """Return the pages in memory now, bytes; None where this user cannot look. `emptied`: answer of `empty_buffers`."""
    buffers = session.buffer_residency()
    resident = size = None
    how = "the database's files are not visible to this user"
    own = [str(path) for path in session.data_files() if path.is_file()]
    if own:
        try:
            found = residency(own)
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
        query_files=_outside(files.paths) if files else (),
        query_files_how=files.how if files else "",
        query_files_complete=files.complete if files else False,
    )


def _outside(paths: Sequence[Path]) -> tuple[FileResidence, ...]:
    """A file that is gone has nothing in memory, and is left out."""
    found = []
    for path in paths:
        try:
            (file,) = residency([str(path)])
        except FileNotFoundError:
            continue
        except OSError:
            found.append(FileResidence(str(path), None, None))
        else:
            found.append(FileResidence(str(path), file.resident * file.page_bytes, file.size_bytes))
    return tuple(found)
