"""Instruments that read the counts of a subject: the kernel's tracer, or /proc."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tare import _probe
from tare.errors import PrivilegeMissing, cause_and_step
from tare.os import counts, proc
from tare.os.counts import Counts, Parts
from tare.os.files import Files, unknown_file
from tare.os.level import Level
from tare.os.nodes import Node
from tare.os.proc import ProcReader, ProcReading
from tare.os.record import PATIENCE_S, Window
from tare.os.roles import Roles
from tare.os.subject import Subject, living

_TRIES = 3
"""Starts of a tracer, while processes of the subject keep ending."""


class Instrument(ABC):
    """Reads counts at the start and at the end of windows. The end of one is the start of the next."""

    level: Level
    absent: dict[str, str]
    lacks: str | None = None

    def __init__(self, subject: Subject, roles: Roles) -> None:
        self._names = subject.node_names
        self._processes = subject.processes
        self._roles = roles
        self._packets: tuple[int, int] | None = None
        self.began_ns = 0  # start of the window, monotonic

    def begin(self) -> None:
        """Start a window."""
        self.began_ns = time.monotonic_ns()
        self._packets = proc.packets(self._processes)
        self._begin()

    def end(
        self, name: str, number: int, started_at: str, wall_ns: int | None = None
    ) -> tuple[Window, Counts]:
        """End the window and start the next one. `wall_ns`: of the query; None: all the window.

        Both happen when this is called; it may return later, since it waits for block requests to be done. Returns the
        window and the counts in it, with notes that belong to no window."""
        self.began_ns = time.monotonic_ns()
        before, self._packets = self._packets, proc.packets(self._processes)
        counted = self._end()
        window = Window(
            name=name,
            number=number,
            is_traced=self.level is not Level.PROC,
            started_at=started_at,
            wall_ns=counted.read_ns if wall_ns is None else wall_ns,
            read_ns=counted.read_ns,
            io_busy_ns=counted.io_busy_ns,
            io_on_cpu_ns=counted.io_on_cpu_ns,
            roles=counted.roles,
            messages=counted.messages,
            files=counted.files,
            packets_in=_difference(before, self._packets, 0),
            packets_out=_difference(before, self._packets, 1),
            write_back=counted.write_back,
            lost=counted.lost,
        )
        return window, counted

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _end(self) -> Counts: ...

    @abstractmethod
    def stop(self) -> None: ...


class Traced(Instrument):
    """Counts by programs in the kernel (BPF)."""

    def __init__(self, subject: Subject, roles: Roles, level: Level) -> None:
        """Raises OSError (ProbeError) where the kernel refuses the tracer."""
        super().__init__(subject, roles)
        self.level = level
        self._tracer = _tracer(level, subject.nodes)
        self.absent = dict(self._tracer.absent)
        self._parts = Parts.of(level, self.absent)
        self._files = Files(subject.file_names) if self._parts.reads else None

    def _begin(self) -> None:
        if self._files is not None:
            self._files.look(pid for processes in self._processes for pid in processes)
        self._first = self._tracer.snapshot()

    def _end(self) -> Counts:
        second = self._tracer.snapshot(PATIENCE_S)
        file_of = unknown_file
        if self._files is not None:
            present = {thread.tgid for thread in second.threads if not thread.ended}
            self._files.resolve(second.reads, present)
            file_of = self._files.file_of
        counted = counts.count(self._first, second, self._names, self._roles.naming(), self._parts, file_of)
        self._first = second
        return counted

    def stop(self) -> None:
        self._tracer.stop()


class FromProc(Instrument):
    """Counts from /proc."""

    level = Level.PROC

    def __init__(self, subject: Subject, roles: Roles, lacks: str | None = None) -> None:
        super().__init__(subject, roles)
        self.lacks = lacks
        self.absent = dict.fromkeys(
            ("calls", "cache", "disk", "sockets"), "/proc has no counts of these by thread"
        )
        self._reader = ProcReader(subject.processes, subject.own)
        self._first: ProcReading | None = None

    def _begin(self) -> None:
        self._first = self._reader.read()

    def _end(self) -> Counts:
        assert self._first is not None, "a window ends after it began"
        second = self._reader.read()
        counted = proc.count(self._first, second, self._names, self._roles.naming())
        self._first = second
        return counted

    def stop(self) -> None:
        self._first = None


def open_instrument(subject: Subject, roles: Roles, level: Level | None) -> Instrument:
    """Return the instrument of a level. None: the tracer at level full, or else /proc with the reason in `lacks`.

    Raises PrivilegeMissing where the requested level does not work here."""
    if level is Level.PROC:
        return FromProc(
            subject, roles, "level proc was requested; --level full counts calls, cache and disk, too"
        )
    try:
        return Traced(subject, roles, level or Level.FULL)
    except OSError as error:
        what, step = cause_and_step(error)
        if level is None:
            return FromProc(subject, roles, f"{what}{'; ' if step else ''}{step}")
        raise PrivilegeMissing(
            f"level {level} does not work here: {what}",
            f"{step + '; or ' if step else ''}take --level proc, which needs no privilege",
        ) from error


def _tracer(level: Level, nodes: Sequence[Node]) -> _probe.OsTracer:
    """Start the tracer on the processes that live. One that ends at this moment is left out of the next try."""
    for _ in range(_TRIES - 1):
        remaining = living(nodes)
        try:
            return _probe.OsTracer(str(level), [node.processes for node in remaining])
        except OSError:
            if living(remaining) == remaining:
                raise
    return _probe.OsTracer(str(level), [node.processes for node in living(nodes)])


def _difference(before: tuple[int, int] | None, after: tuple[int, int] | None, place: int) -> int | None:
    """Packets between two readings; None where a namespace was not readable or ended with its last process."""
    if before is None or after is None or after[place] < before[place]:
        return None
    return after[place] - before[place]
