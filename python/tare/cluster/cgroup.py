"""Cgroups of nodes: CPU quota, memory limit and the way to end all processes of a node; version 1, hybrid and 2."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import ServerFailed, UsageError

PERIOD_US = 20_000
"""Period of a quota: short, so that a node that has used up its part of a period waits for a few ms."""

SHARES, WEIGHT = 16_384, 1_600
"""Weight in version 1 and in version 2, 16 times the usual: other programs must not use up a node's quota."""

_CONTROLLERS = ("cpu", "memory")
_OPTIONAL = ("cpuacct", "blkio")
_END_S = 5.0
_PAUSE_S = 0.005


@dataclass(frozen=True, slots=True)
class Throttling:
    """Times that a group had used up its quota, since the group was made."""

    periods: int
    ns: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Hierarchies of this machine by controller. In version 2 they are all the same."""

    mounts: dict[str, Path]
    unified: bool

    @property
    def roots(self) -> list[Path]:
        return list(dict.fromkeys(self.mounts.values()))


def layout(
    mountinfo: str | None = None, read: Callable[[Path], str] = lambda path: path.read_text()
) -> Layout:
    """Return the hierarchies that have the controllers. Raises UsageError where cpu or memory has none."""
    text = Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo
    first: dict[str, Path] = {}
    second: Path | None = None
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        mount = Path(before.split()[4])
        if kind == "cgroup":
            for controller in (*_CONTROLLERS, *_OPTIONAL):
                if controller in options.split(","):
                    first.setdefault(controller, mount)
        elif kind == "cgroup2" and second is None:
            second = mount
    if all(controller in first for controller in _CONTROLLERS):
        return Layout(first, unified=False)
    if second is not None:
        offered = read(second / "cgroup.controllers").split()
        if all(controller in offered for controller in _CONTROLLERS):
            return Layout(dict.fromkeys(_CONTROLLERS, second), unified=True)
    raise UsageError(
        "no cgroup hierarchy of this machine offers both controllers cpu and memory",
        "mount /sys/fs/cgroup; in a container, run that with --privileged --cgroupns=host",
    )


class Group:
    """Cgroup of a name in each hierarchy."""

    def __init__(self, name: str, where: Layout) -> None:
        self.name, self._layout = name, where
        self.directories = [root / name for root in where.roots]

    def make(self) -> None:
        """Make it, empty. Raises ServerFailed, also where another has made one of its name."""
        if self._layout.unified:
            _offer(self._layout.roots[0])
        try:
            for directory in self.directories:
                directory.mkdir()
            self._write("cpu", *(("cpu.weight", WEIGHT) if self._layout.unified else ("cpu.shares", SHARES)))
        except OSError as error:
            raise ServerFailed(f"the cgroup {self.name} could not be made: {error}", "run as root") from error

    def set_quota(self, cpus: float | None) -> None:
        """Set the CPUs that the group may use; None: all. Raises ServerFailed."""
        quota = None if cpus is None else round(cpus * PERIOD_US)
        if self._layout.unified:
            self._write("cpu", "cpu.max", f"{'max' if quota is None else quota} {PERIOD_US}")
        else:
            self._write("cpu", "cpu.cfs_period_us", PERIOD_US)
            self._write("cpu", "cpu.cfs_quota_us", -1 if quota is None else quota)

    def quota(self) -> float | None:
        """Return the CPUs that the group may use; None for all, and for a group that has gone."""
        with suppress(OSError, ValueError):
            if self._layout.unified:
                quota, period = self._read("cpu", "cpu.max").split()
            else:
                quota, period = self._read("cpu", "cpu.cfs_quota_us"), self._read("cpu", "cpu.cfs_period_us")
            return int(quota) / int(period) if quota not in ("max", "-1") else None
        return None

    def set_memory(self, limit_bytes: int) -> None:
        """Limit memory, page cache included. Raises ServerFailed."""
        self._write("memory", "memory.max" if self._layout.unified else "memory.limit_in_bytes", limit_bytes)

    def throttling(self) -> Throttling:
        """Return the times without CPU because the quota was used up. Zeros for a group that has gone."""
        with suppress(OSError):
            lines = self._read("cpu", "cpu.stat").splitlines()
            values = {name: int(value) for name, value in (line.split() for line in lines)}
            ns = values.get("throttled_time", 1000 * values.get("throttled_usec", 0))
            return Throttling(values.get("nr_throttled", 0), ns)
        return Throttling(0, 0)

    def exists(self) -> bool:
        return any(directory.is_dir() for directory in self.directories)

    def processes(self) -> list[int]:
        """Return the processes in it, in any of the hierarchies."""
        found: set[int] = set()
        for directory in self.directories:
            with suppress(OSError):
                found.update(map(int, (directory / "cgroup.procs").read_text().split()))
        return sorted(found - {0})

    def kill(self) -> None:
        """Kill all processes in it, and those that they start meanwhile. Raises ServerFailed if one does not end."""
        until = time.monotonic() + _END_S
        while pids := self.processes():
            if time.monotonic() > until:
                raise ServerFailed(
                    f"processes of the cgroup {self.name} do not end after SIGKILL: PID {pids}",
                    "they wait for the kernel, e.g. for a disk: repeat the command later",
                )
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_PAUSE_S)

    def remove(self) -> None:
        """Remove it. Raises ServerFailed if the kernel refuses."""
        until = time.monotonic() + _END_S
        for directory in self.directories:
            while directory.is_dir():
                try:
                    directory.rmdir()
                except FileNotFoundError:
                    break
                except OSError as error:  # the kernel still takes a process apart
                    if time.monotonic() > until:
                        raise ServerFailed(
                            f"the cgroup {directory} could not be removed: {error.strerror}",
                            "end the processes in it and repeat the command",
                        ) from error
                    time.sleep(_PAUSE_S)

    def _write(self, controller: str, file: str, value: object) -> None:
        path = self._layout.mounts[controller] / self.name / file
        try:
            path.write_text(str(value))
        except OSError as error:
            raise ServerFailed(
                f"the kernel refused {value} for {path}: {error.strerror}",
                "choose a value that the groups above it allow",
            ) from error

    def _read(self, controller: str, file: str) -> str:
        return (self._layout.mounts[controller] / self.name / file).read_text().strip()


def named(prefix: str, where: Layout) -> list[Path]:
    """Return the cgroups whose name begins so, right below the roots of the hierarchies."""
    return sorted(path for root in where.roots for path in root.glob(f"{prefix}*") if path.is_dir())


def _offer(root: Path) -> None:
    """Pass the controllers on to groups below the root of version 2. Raises ServerFailed."""
    file = root / "cgroup.subtree_control"
    try:
        missing = [one for one in _CONTROLLERS if one not in file.read_text().split()]
        if missing:
            file.write_text(" ".join(f"+{one}" for one in missing))
    except OSError as error:
        raise ServerFailed(
            f"{root} does not pass on the controllers cpu and memory: {error.strerror}",
            "in a container, run that with --privileged --cgroupns=host",
        ) from error
