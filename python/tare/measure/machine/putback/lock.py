"""The lock of the directory in which runs see each other.

A process has one of each directory and keeps it in one open file, so it never waits for itself, even where an
exception has come between taking the lock and giving it back. Threads of a process take turns; a thread may take it
again. The file names its holder, for those who wait. The kernel frees the lock with its holder.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from . import tasks

POLL_S = 0.005

_locks: dict[Path, Lock] = {}


@dataclass(frozen=True)
class Holder:
    """A process that has the lock, as it wrote itself down."""

    pid: int
    command: str
    since: str  # local time, HH:MM:SS

    def __str__(self) -> str:
        return f"{self.command} (pid {self.pid}) since {self.since}"


Waiting = Callable[["Lock", float], object]
"""Receives the lock and the seconds waited so far. What it raises ends the wait."""


def own_command() -> str:
    """Program and subcommand of this process: further arguments may hold a password."""
    program = Path(sys.argv[0] if sys.argv else "").name
    program = "tare" if program in ("__main__.py", "tare") else program
    subcommand = sys.argv[1] if program == "tare" and len(sys.argv) > 1 else ""
    return f"{program} {subcommand}" if subcommand.isalpha() else program


class Lock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = threading.RLock()
        self._fd: int | None = None
        self._depth = 0

    def take(self, waiting: Waiting) -> None:
        """Returns once this thread has it. Raises what `waiting` raises, and OSError."""
        began = time.monotonic()
        while not self._threads.acquire(timeout=POLL_S):
            waiting(self, time.monotonic() - began)
        try:
            if self._fd is None:
                # Kept before it is locked: a lock that nobody knows of could not be given back.
                self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            while not self._locked():
                waiting(self, time.monotonic() - began)
                time.sleep(POLL_S)
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise
        if self._depth == 1:
            self._sign()

    def give_back(self) -> None:
        self._depth -= 1
        if self._depth <= 0:
            self.drop()
        else:
            self._threads.release()

    def drop(self) -> None:
        """Gives back all that this thread has taken, also what an exception in a wrong moment has left taken."""
        if not self._threads.acquire(blocking=False):
            return  # another thread's
        self._depth = 0
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)  # first: an open file that is lost then locks nobody out
            fd, self._fd = self._fd, None
            os.close(fd)
        with suppress(RuntimeError):
            while True:
                self._threads.release()

    def holder(self) -> Holder | None:
        """The process that has it, if it lives and has written itself down."""
        try:
            record = json.loads(self.path.read_text())
            holder = Holder(int(record["pid"]), str(record["command"]), str(record["since"]))
            return holder if tasks.start(holder.pid) == record["start"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def forget(self) -> None:
        """In a forked child: the lock stays with the parent."""
        self._threads = threading.RLock()
        self._depth = 0
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _locked(self) -> bool:
        assert self._fd is not None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _sign(self) -> None:
        record = {
            "pid": os.getpid(),
            "start": tasks.start(os.getpid()),
            "command": own_command(),
            "since": time.strftime("%H:%M:%S"),
        }
        line = json.dumps(record).encode()
        assert self._fd is not None
        with suppress(OSError):  # a full disk: the holder is not named, then
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, line, 0)


def lock_of(directory: Path) -> Lock:
    """The one that this process has of the directory."""
    path = directory.resolve() / "lock"
    return _locks.setdefault(path, Lock(path))


@contextmanager
def locked(directory: Path, waiting: Waiting = lambda lock, seconds: None) -> Iterator[None]:
    """Block in which no other process reads or changes the directory."""
    lock = lock_of(directory)
    lock.take(waiting)
    try:
        yield
    finally:
        lock.give_back()


def _after_fork_in_child() -> None:
    for lock in list(_locks.values()):
        lock.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
