"""Files that last: written whole or not at all, as a temporary neighbour that is synced and renamed; and read back."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tare.errors import ExportFailed


def write(path: Path, text: str) -> None:
    """Writes UTF-8 text: as `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Writes `data`: as `opened`."""
    with opened(path) as stream:
        stream.write(data)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Raises ExportFailed; a file that was there before is then as it was.

    A target that is no regular file (a pipe, a terminal, /dev/stdout) is written to directly: it
    cannot be renamed over. A symbolic link is followed.
    """
    try:
        target = path.resolve() if path.is_symlink() else path
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with target.open("wb") as stream:
                yield stream
            return
        with _replaced(target) as stream:
            yield stream
    except OSError as error:
        raise ExportFailed(
            f"{path} could not be written: {error.strerror or error}", _next_step(error)
        ) from error


@contextmanager
def _replaced(target: Path) -> Iterator[BinaryIO]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), _mode(target))
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(target.parent)


def _mode(target: Path) -> int:
    """The mode of the file that is replaced, else what the umask leaves."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_directory(directory: Path) -> None:
    """Makes the rename last. Some file systems cannot sync a directory; the file is whole all the same."""
    with suppress(OSError):
        synced(directory)


def _next_step(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "make the directory, or name another file"
        case PermissionError():
            return "name a file that you may write"
        case IsADirectoryError():
            return "name a file, not a directory"
        case _:
            return "make room, or name a file on another disk"


def read_named(path: Path, form: str, most_bytes: int) -> dict[str, Any]:
    """Return the JSON object of a file that names its own format. Raises OSError, and ValueError for any other file."""
    if path.stat().st_size > most_bytes:
        raise ValueError("it is too large")
    said = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(said, dict) or said.get("format") != form:
        raise ValueError(f"it does not say that its format is {form!r}")
    return said


def synced(path: Path) -> None:
    """Sync a file's bytes, or a folder's names, to the disk. Raises OSError; some file systems cannot sync a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
