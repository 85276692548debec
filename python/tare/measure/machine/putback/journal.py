"""The undo journal of one run, and the directory in which runs see each other.

A line is appended before the change it undoes, so the journal never knows less than was
done; a torn last line belongs to a change that never happened. No fsync: the page cache
outlives every process, and a restart of the machine undoes the changes by itself.

A run is alive as long as somebody holds the flock on its journal: the run itself or its
guardian (they share one open file). Everything that reads or changes the directory does
so under its lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import steps, tasks
from .steps import FAILED, HELD, Step, Undone


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """One run at a time in here; the kernel lets go if the holder dies."""
    fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@dataclass(frozen=True)
class Header:
    pid: int
    command: str  # the program's name only: arguments may hold a password
    boot_id: str


class Journal:
    """One run's journal, open."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.fd = fd

    @classmethod
    def create(cls, directory: Path, command: str) -> Journal:
        """Call under the directory's lock. Raises OSError if it cannot be written."""
        path = directory / f"run-{os.getpid()}-{uuid.uuid4().hex[:8]}.journal"
        journal = cls(
            path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        )
        fcntl.flock(journal.fd, fcntl.LOCK_EX)
        journal._append(vars(Header(os.getpid(), command, tasks.boot_id())))
        return journal

    def append(self, step: Step) -> int:
        """Returns the length before, for `withdraw`."""
        return self._append(steps.encode(step))

    def withdraw(self, length: int) -> None:
        """Forgets the last step: the kernel refused its change."""
        os.ftruncate(self.fd, length)

    def _append(self, record: dict[str, object]) -> int:
        length = os.fstat(self.fd).st_size
        line = (json.dumps(record) + "\n").encode()
        if os.write(self.fd, line) != len(line):
            os.ftruncate(self.fd, length)
            raise OSError(28, "no room for the undo journal", str(self.path))
        return length

    def read(self) -> tuple[Header | None, list[Step]]:
        """The header and the steps in the order they were made; None if even the header is torn."""
        whole, _, _torn = os.pread(self.fd, os.fstat(self.fd).st_size, 0).rpartition(b"\n")
        records = [json.loads(line) for line in whole.splitlines()]
        if not records:
            return None, []
        return Header(**records[0]), [steps.decode(record) for record in records[1:]]

    def close(self) -> None:
        os.close(self.fd)


@dataclass(frozen=True)
class Run:
    """A journal as another process sees it."""

    path: Path
    header: Header | None
    steps: tuple[Step, ...]
    alive: bool


def runs(directory: Path) -> list[Run]:
    """All journals of this boot. Call under the directory's lock; older ones are removed."""
    found = []
    for path in sorted(directory.glob("run-*.journal")):
        journal = Journal(path, os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        try:
            try:
                fcntl.flock(journal.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                alive = False
            except BlockingIOError:
                alive = True
            header, made = journal.read()
        finally:
            journal.close()
        if not alive and (header is None or header.boot_id != tasks.boot_id()):
            path.unlink()
        else:
            found.append(Run(path, header, tuple(made), alive))
    return found


def undo_all(path: Path, made: list[Step]) -> list[Undone]:
    """Undoes a run's steps, last first. Its journal goes once nothing is left to put back.

    Call under the directory's lock."""
    others = (run for run in runs(path.parent) if run.alive and run.path != path)
    held = {step.key for run in others for step in run.steps if step.key is not None}
    results = [
        Undone(step.describe(), HELD) if step.key in held else steps.undo(step) for step in reversed(made)
    ]
    if all(result.how != FAILED for result in results):
        path.unlink(missing_ok=True)
    return results
