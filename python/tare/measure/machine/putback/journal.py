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
from dataclasses import dataclass
from pathlib import Path

from . import steps, tasks
from .steps import FAILED, HELD, Step, Undone, Unknown


@dataclass(frozen=True)
class Header:
    pid: int
    command: str  # the program's name only: arguments may hold a password
    boot_id: str


def _header(line: bytes) -> Header | None:
    """Another version's may hold more; None if it holds less."""
    try:
        record = json.loads(line)
        return Header(int(record["pid"]), str(record["command"]), str(record["boot_id"]))
    except (ValueError, KeyError, TypeError):
        return None


class Journal:
    """Journal of a run, open."""

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
        """The header and the steps in the order they were made; None for a header that is torn.

        What another version wrote and this one cannot read is `Unknown`, the header too."""
        whole, _, _torn = os.pread(self.fd, os.fstat(self.fd).st_size, 0).rpartition(b"\n")
        lines = whole.splitlines()
        if not lines:
            return None, []
        header = _header(lines[0])
        made = [self._step(line) for line in lines[1:]]
        return header, made if header else [Unknown(str(self.path), "header"), *made]

    def _step(self, line: bytes) -> Step:
        kind = "unreadable"
        try:
            record = json.loads(line)
            kind = str(record["kind"])
            return steps.decode(record)
        except (ValueError, KeyError, TypeError):
            return Unknown(str(self.path), kind)

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
        # Without a header and steps, its run was killed before the first change.
        void = not made if header is None else header.boot_id != tasks.boot_id()
        if not alive and void:
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
