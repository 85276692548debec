"""Time for which a CPU quota stopped a process's control groups (`cpu.stat` of cgroups v1 and v2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tare.measure.machine.isolation import cgroups

_FIELDS = {"throttled_time": 1, "throttled_usec": 1_000}  # of v1 and of v2, with their ns


class Throttling:
    """The control groups that a process is in, from its own up to the highest that can be seen."""

    def __init__(self, pid: int) -> None:
        self._files = list(_files(pid))

    def read(self) -> int | None:
        """Sum over the groups and their CPUs since each group began, ns; 0 without a quota, None if unreadable.

        A group that is stopped on two CPUs counts twice: for one of its threads this is an upper bound."""
        try:
            return sum(_throttled_ns(file.read_text()) for file in self._files)
        except (OSError, ValueError):
            return None


def _throttled_ns(statistics: str) -> int:
    pairs = (line.split() for line in statistics.splitlines())
    return sum(int(value) * _FIELDS[name] for name, value in pairs if name in _FIELDS)


def _files(pid: int) -> Iterator[Path]:
    for mount, controller in ((cgroups.v1_cpu(), "cpu"), (cgroups.v2(), "")):
        path = cgroups.of(pid, controller)
        if mount is None or path is None:
            continue
        group = cgroups.directory(mount, path)
        while group.is_relative_to(mount):
            if (group / "cpu.stat").is_file():
                yield group / "cpu.stat"
            group = group.parent
        return  # the CPU controller is bound to one hierarchy
