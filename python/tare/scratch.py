"""Folders for files of one process, below the temporary folder, which are removed also after the process was killed.

A process holds a lock on a file in each of its folders, and the kernel releases it with the process. The next process
that makes such a folder removes those whose file nobody locks.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

MARK = ".tare-owner"
"""File that the owner locks. A folder without it is left alone."""


class Scratch:
    """Folder that is there until `remove`, or for the length of a block."""

    def __init__(self, prefix: str) -> None:
        """`prefix`: beginning of the folder's name, and of the leftovers that go before it is made. Raises OSError."""
        remove_leftovers(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = -1
        with suppress(OSError):  # a file system without locks: no mark, so never a leftover
            self._lock = _locked(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that it holds. Safe to repeat."""
        _remove(self.path)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


@cache
def remove_leftovers(prefix: str) -> None:
    """Remove this user's folders whose owner is gone, once in the life of a process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{glob.escape(prefix)}*"):
        with suppress(OSError):  # its owner lives, or it is no folder of this kind
            _remove_leftover(folder)


def _remove_leftover(folder: Path) -> None:
    """Raises OSError for a folder without the mark, and BlockingIOError where a process locks it."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(place).st_uid != os.geteuid():
            return
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        lock = os.open(MARK, flags, dir_fd=place)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.stat(MARK, dir_fd=place, follow_symlinks=False)
            if os.path.samestat(os.fstat(lock), found):  # not removed by another process meanwhile
                _remove(folder)
        finally:
            os.close(lock)
    finally:
        os.close(place)


def _locked(folder: Path) -> int:
    """Make the mark, and return its descriptor. It has its name only once it is locked."""
    unnamed = folder / f"{MARK}.new"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(folder / MARK)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _remove(folder: Path) -> None:
    """Remove the mark last: a process that is killed here leaves a folder that has it."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != MARK:
                entry.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
