"""Changes to a machine, and how each is undone.

Every undo is idempotent (a guardian may be killed half-way and another continue), names the
life of a process by pid and start, and leaves alone what somebody else has changed since.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from . import tasks

SYSCTL = Path("/proc/sys")

PUT_BACK = "put back"
GONE = "gone"  # the process ended: nothing to put back
HELD = "held"  # another run still needs it; the last one out puts it back
CHANGED = "changed since"  # no longer the value we set: somebody else's decision
FAILED = "failed"
LEFT = "left to the guardian"  # another run keeps the lock


@dataclass(frozen=True)
class Undone:
    """How one step's undoing went: one of the six words above, on what, and why."""

    what: str
    how: str
    detail: str = ""


@dataclass(frozen=True)
class Step:
    """A change. ``key`` names what several runs may hold at once; None if it cannot be shared."""

    @property
    def key(self) -> str | None:
        return None

    def describe(self) -> str:
        raise NotImplementedError

    def undo(self) -> Undone:
        raise NotImplementedError


def sysctl_path(name: str) -> Path:
    """``kernel.task_delayacct`` or, where a component has a dot in it, ``net/ipv4/conf/eth0.1/…``."""
    return SYSCTL / (name if "/" in name else name.replace(".", "/"))


@dataclass(frozen=True)
class Sysctl(Step):
    name: str
    old: str
    new: str

    @property
    def key(self) -> str:
        return f"sysctl:{self.name}"

    def describe(self) -> str:
        return f"{self.name} = {self.old}"

    def undo(self) -> Undone:
        path = sysctl_path(self.name)
        now = path.read_text().strip()
        if now not in (self.old, self.new):
            return Undone(self.describe(), CHANGED, f"now {now}, we had set {self.new}")
        if now != self.old:
            path.write_text(self.old)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Claim(Step):
    """Marks a thing that only one run may do at a time; there is nothing to undo."""

    name: str

    @property
    def key(self) -> str:
        return f"claim:{self.name}"

    def describe(self) -> str:
        return f"claim on {self.name}"

    def undo(self) -> Undone:
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Affinity(Step):
    """The CPUs one thread may run on; ``new`` is what we set, or what a move may reset it to."""

    tid: int
    start: int
    old: tuple[int, ...]
    new: tuple[int, ...]

    def describe(self) -> str:
        return f"affinity of {self.tid} = {','.join(map(str, self.old))}"

    def undo(self) -> Undone:
        if tasks.start(self.tid) != self.start:
            return Undone(self.describe(), GONE)
        try:
            now = os.sched_getaffinity(self.tid)
            if now not in (set(self.old), set(self.new)):
                return Undone(self.describe(), CHANGED, f"now {','.join(map(str, sorted(now)))}")
            if now != set(self.old):
                os.sched_setaffinity(self.tid, self.old)
        except ProcessLookupError:
            return Undone(self.describe(), GONE)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Inherited(Step):
    """Threads born since ``since`` (ticks) that inherited one of our ``narrowed`` sets of CPUs."""

    since: int
    narrowed: tuple[tuple[int, ...], ...]
    old: tuple[int, ...]

    def describe(self) -> str:
        return "affinity of processes born meanwhile"

    def undo(self) -> Undone:
        ours = [set(cpus) for cpus in self.narrowed]
        for tid in tasks.user_threads():
            born = tasks.start(tid)
            # Vanished threads and other users' processes are not ours to widen.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if born is not None and born >= self.since and os.sched_getaffinity(tid) in ours:
                    os.sched_setaffinity(tid, self.old)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Stopped(Step):
    """A process held by SIGSTOP."""

    pid: int
    start: int
    name: str

    def describe(self) -> str:
        return f"{self.name} ({self.pid}) running"

    def undo(self) -> Undone:
        if tasks.start(self.pid) != self.start:
            return Undone(self.describe(), GONE)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Moved(Step):
    """A process taken into another cgroup."""

    pid: int
    start: int
    origin: str

    def describe(self) -> str:
        return f"{self.pid} in {self.origin}"

    def undo(self) -> Undone:
        if tasks.start(self.pid) != self.start:
            return Undone(self.describe(), GONE)
        try:
            (Path(self.origin) / "cgroup.procs").write_text(str(self.pid))
        except ProcessLookupError:
            return Undone(self.describe(), GONE)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Cgroup(Step):
    """A cgroup that we made: whoever is in it goes back to its parent, then it is removed."""

    path: str

    def describe(self) -> str:
        return f"no cgroup {self.path}"

    def undo(self) -> Undone:
        group = Path(self.path)
        deadline = time.monotonic() + 2.0  # forks may outrun one pass; zombies keep a group busy briefly
        while group.exists():
            for pid in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    (group.parent / "cgroup.procs").write_text(pid)
            try:
                group.rmdir()
            except OSError as refused:
                if time.monotonic() > deadline:
                    return Undone(self.describe(), FAILED, str(refused))
                time.sleep(0.005)
        return Undone(self.describe(), PUT_BACK)


@dataclass(frozen=True)
class Unknown(Step):
    """A change that another version of Tare wrote down: kept, and left to that version."""

    journal: str
    kind: str

    def describe(self) -> str:
        return f"a change of kind {self.kind!r}, which this version of Tare does not know"

    def undo(self) -> Undone:
        return Undone(self.describe(), FAILED, f"it is in {self.journal}; use the version that wrote it")


_KINDS: dict[str, type[Step]] = {
    kind.__name__.lower(): kind for kind in (Sysctl, Claim, Affinity, Inherited, Stopped, Moved, Cgroup)
}


def encode(step: Step) -> dict[str, object]:
    return {"kind": type(step).__name__.lower(), **asdict(step)}


def _tuples(value: object) -> object:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def decode(record: dict[str, object]) -> Step:
    """Raises KeyError or TypeError for a record that no version of ours wrote."""
    fields = {name: _tuples(value) for name, value in record.items() if name != "kind"}
    return _KINDS[str(record["kind"])](**fields)


def undo(step: Step) -> Undone:
    """Undo a step, with the kernel's refusal as a result."""
    try:
        return step.undo()
    except OSError as refused:
        return Undone(step.describe(), FAILED, str(refused))
