"""Names of files by device and inode: the table or index that a file holds, else its own name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import TareError

if TYPE_CHECKING:
    from tare._probe import OsRead

PROC = Path("/proc")
_LINKS = ("fd", "map_files")
_DELETED = " (deleted)"
_MINOR_BITS = 20


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the report names it. `path`: None where it is unknown."""

    name: str
    path: str | None


Key = tuple[int, int]
"""Device, as the kernel numbers it, and inode."""

FileOf = Callable[[Key], KnownFile]


def unknown_file(key: Key) -> KnownFile:
    """Return the name of a file that no source names."""
    device, inode = key
    return KnownFile(f"file {inode} on {device >> _MINOR_BITS}:{device & ((1 << _MINOR_BITS) - 1)}", None)


def key_of(status: os.stat_result) -> Key:
    """Return the device and inode as the kernel has them: `stat` encodes the device in another way."""
    return os.major(status.st_dev) << _MINOR_BITS | os.minor(status.st_dev), status.st_ino


class Files:
    """Files that processes have open or mapped, and those that the server names.

    `names`: asks the server; it is called outside of windows only."""

    def __init__(self, names: Callable[[], Mapping[Path, str]]) -> None:
        self._names = names
        self._named: dict[Key, KnownFile] = {}
        self._open: dict[Key, KnownFile] = {}
        self._seen: set[tuple[Path, str]] = set()
        self._ask()

    def file_of(self, key: Key) -> KnownFile:
        """Return the file. The server's name comes before the file's own."""
        return self._named.get(key) or self._open.get(key) or unknown_file(key)

    def look(self, pids: Iterable[int]) -> None:
        """Note the files that the processes have open or mapped now. A link is followed once."""
        for pid in pids:
            for link, target in _links(pid):
                if (link, target) in self._seen:
                    continue
                self._seen.add((link, target))
                with suppress(OSError):
                    path = target.removesuffix(_DELETED)
                    self._open[key_of(link.stat())] = KnownFile(Path(path).name, path)

    def resolve(self, reads: Iterable[OsRead], pids: Iterable[int]) -> None:
        """Find the names of files that were read: of those that processes have open, then the server's new ones."""
        self.look(pids)
        if any((read.device, read.inode) not in self._named for read in reads):
            self._ask()

    def _ask(self) -> None:
        with suppress(TareError, OSError):  # a server that is lost names no file
            for path, name in self._names().items():
                with suppress(OSError):
                    self._named[key_of(path.stat())] = KnownFile(name, str(path))


def _links(pid: int) -> Iterator[tuple[Path, str]]:
    """Links to the process's files, and their targets. None where it has ended or belongs to another user."""
    for folder in _LINKS:
        try:
            links = list((PROC / str(pid) / folder).iterdir())
        except OSError:
            continue
        for link in links:
            with suppress(OSError):
                target = str(link.readlink())
                if target.startswith("/"):
                    yield link, target
