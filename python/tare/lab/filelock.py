"""Locks beside a SQLite lab: one byte for each run in one small file, freed by the kernel with its holder.

They are locks of the open file, not of the process: two holders in one process refuse each other too, and
looking does not let go of what is held.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid
_SUFFIX = "-held"


class Lock:
    def __init__(self, path: Path, fd: int) -> None:
        self._path, self._fd = path, fd

    def release(self) -> None:
        """Lets go; the file goes too if no other run is held."""
        if self._fd < 0:
            return
        with suppress(OSError):
            _set(self._fd, 0, 0)  # all of it: fails if another run is held
            self._path.unlink()
        os.close(self._fd)
        self._fd = -1


def take(lab: Path, number: int) -> Lock:
    """Raises BlockingIOError if another holds it, or another OSError."""
    path = lab.with_name(lab.name + _SUFFIX)
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _set(fd, number, 1)
            if _is_still(path, fd):
                return Lock(path, fd)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise BlockingIOError(errno.EAGAIN, "held by another") from None
            raise
        os.close(fd)  # removed by its last holder meanwhile


def is_locked(lab: Path, number: int) -> bool:
    path = lab.with_name(lab.name + _SUFFIX)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _packed(number, 1))
    finally:
        os.close(fd)
    return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)


def _set(fd: int, start: int, length: int) -> None:
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _packed(start, length))


def _packed(start: int, length: int) -> bytes:
    return struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)


def _is_still(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except FileNotFoundError:
        return False
