"""Files outside the database that a query reads: found in an untimed execution, for the proof of a cold page cache.

Two sources. The kernel reports every open while the query runs (`fanotify`, as root). For every user, the
descriptors and mappings of the query's processes are looked at again and again, and once after it: they show what
stays open, such as an attached database.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tare._probe import read_process
from tare.dbms.base import Leader, Role, Session
from tare.measure.fanotify import OpenEvents

_PERIOD_S = 0.001

# Programs and their own tables, whatever reads them.
_SYSTEM = [
    Path(place)
    for place in (
        "/etc", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share", "/proc", "/sys",
        sys.prefix, sys.base_prefix,
    )
]  # fmt: skip
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class QueryFiles:
    """Regular files outside the database that one execution of a query opened or had open."""

    paths: tuple[Path, ...]
    how: str  # "fanotify", or "descriptors"
    complete: bool  # the kernel reported every open, and each has a process that is known

    def joined(self, later: QueryFiles) -> QueryFiles:
        """With those of a later execution: where each of its opens is known, those of this one are too."""
        paths = tuple(sorted({*self.paths, *later.paths}))
        return QueryFiles(paths, later.how, later.complete)


class _FileWatch:
    """Watches while a query runs, in a thread of its own. Never while a clock is running."""

    def __init__(self, session: Session, leader: Leader) -> None:
        self._session = session
        self._leader = leader
        self._works: dict[int, bool] = {}  # processes that are known to work for the query or not to
        self._opened: set[Path] = set()
        self._by_unknown: set[Path] = set()
        self._events: OpenEvents | None = None
        with suppress(OSError):
            self._events = OpenEvents()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="tare-files", daemon=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watches until the end of the block."""
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join()
            self._look()
            if self._events:
                self._events.close()

    def files(self) -> QueryFiles:
        """Return what was opened, after `watching` has ended."""
        own = {_identity(path) for path in self._session.data_files()}
        paths = tuple(sorted(self._data(self._opened, own)))
        unknown = self._data(self._by_unknown - self._opened, own)
        return QueryFiles(
            paths,
            "fanotify" if self._events else "descriptors",
            complete=self._events is not None and not self._events.has_lost and not unknown,
        )

    # --------------------------------------------------------------------
    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            self._look()

    def _look(self) -> None:
        if self._events:
            for pid, path in self._events.read():
                works = self._works_for_query(pid)
                if works:
                    self._opened.add(path)
                elif works is None:
                    self._by_unknown.add(path)
        for pid in self._query_processes():
            self._opened |= _open_in(pid)

    def _works_for_query(self, pid: int) -> bool | None:
        """None for a process that was gone before it could be looked at."""
        if pid in (self._leader.pid, 0, 1, os.getpid()):
            return pid == self._leader.pid
        if pid in self._works:
            return self._works[pid]
        try:
            process = read_process(pid)
        except OSError:
            return None
        works = self._session.role(process, self._leader) is Role.QUERY
        if not works and process.ppid in self._session.worker_parents(self._leader):
            return False  # a worker that was born just now has no title yet
        self._works[pid] = False  # the answer, should the parents go round in a circle
        self._works[pid] = works or bool(self._works_for_query(process.ppid))
        return self._works[pid]

    def _query_processes(self) -> list[int]:
        parents = [self._leader.pid, *self._session.worker_parents(self._leader)]
        children = {child for parent in parents for child in _children(parent)}
        grandchildren = {
            pid for child in children if self._works_for_query(child) for pid in _children(child)
        }
        candidates = {self._leader.pid} | children | grandchildren
        return [pid for pid in candidates if self._works_for_query(pid)]

    def _data(self, paths: Iterable[Path], own: set[tuple[int, int] | None]) -> set[Path]:
        kept = {}
        for path in paths:
            identity = _identity(path)
            if identity is None or identity in own or self._session.is_own_file(path):
                continue
            if not any(path.is_relative_to(place) for place in _SYSTEM) and not _is_program(path):
                kept[identity] = path
        return set(kept.values())


def _open_in(pid: int) -> set[Path]:
    """Files that the process has mapped, or open for more than writing."""
    found = set()
    for folder in ("fd", "map_files"):
        with suppress(OSError):  # the process has ended; map_files is root's
            for entry in os.scandir(f"/proc/{pid}/{folder}"):
                with suppress(OSError):
                    path = os.readlink(entry.path)  # noqa: PTH115
                    if path.startswith("/") and not (folder == "fd" and _is_only_written(pid, entry.name)):
                        found.add(Path(path))
    return found


def _is_only_written(pid: int, descriptor: str) -> bool:
    text = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text(encoding="ascii")
    flags = next(line.split()[1] for line in text.splitlines() if line.startswith("flags:"))
    return int(flags, 8) & os.O_ACCMODE == os.O_WRONLY


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.scandir(f"/proc/{pid}/task"):
            with suppress(OSError):
                found += map(int, Path(thread.path, "children").read_text(encoding="ascii").split())
    return found


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a regular file; None for all else."""
    with suppress(OSError):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            return status.st_dev, status.st_ino
    return None


def _is_program(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF
    return False


def find_files(session: Session, leader: Leader, execute: Callable[[], None]) -> QueryFiles:
    """Return the files that `execute` makes the query's processes read. Raises what it raises."""
    watch = _FileWatch(session, leader)
    with watch.watching():
        execute()
    return watch.files()
