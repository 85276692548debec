"""Interface of a means of reserving CPUs, and the choice of the best that works here."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import PrivilegeMissing
from tare.measure.machine.isolation import cgroups
from tare.measure.machine.putback import tasks
from tare.measure.machine.settings import MachineSettings

INIT = 1  # left alone by every means: the machine depends on it


class Unavailable(Exception):
    """This means does not work here; the text says why."""


@dataclass(frozen=True, slots=True)
class MovedOff:
    """How the others were kept off the reserved CPUs."""

    moved: int  # processes
    refused: tuple[str, ...]  # those that could not be moved: name (pid)
    by_kernel: bool = False  # the kernel keeps everybody off; nobody was touched


class Confinement(ABC):
    """Reserved CPUs. All changes go through MachineSettings, so they are put back."""

    name: str

    @abstractmethod
    def __init__(self, settings: MachineSettings, reserved: set[int], rest: set[int]) -> None:
        """Raises Unavailable or PrivilegeMissing, having changed nothing that stays."""

    @abstractmethod
    def entry(self) -> Callable[[], None]:
        """For the command's process to call on itself before it becomes the command."""

    @abstractmethod
    def take_in(self, pids: Iterable[int]) -> list[int]:
        """Takes running processes in; returns those that were."""

    @abstractmethod
    def move_off(self, keep: set[int]) -> MovedOff:
        """Keeps all user processes but ``keep`` off the reserved CPUs."""


class GroupConfinement(Confinement):
    """Reserved CPUs of a cgroup that the command's processes are in."""

    hierarchy: str
    """Controller by which /proc names the hierarchy; empty for cgroup v2."""

    _settings: MachineSettings
    _reserved: set[int]
    _mount: Path
    _group: Path

    def entry(self) -> Callable[[], None]:
        procs = os.open(self._group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

        def enter() -> None:
            os.write(procs, b"0")
            os.sched_setaffinity(0, self._reserved)

        return enter

    def take_in(self, pids: Iterable[int]) -> list[int]:
        return [pid for pid in pids if self._take(pid)]

    def _take(self, pid: int) -> bool:
        origin = cgroups.of(pid, self.hierarchy)
        if origin is None:
            return False
        return self._settings.move_to_cgroup(pid, cgroups.directory(self._mount, origin), self._group)


def choose(
    means: Sequence[type[Confinement]], settings: MachineSettings, reserved: set[int], rest: set[int]
) -> tuple[Confinement, list[str]]:
    """The first means that works when tried, and why each before it did not."""
    reasons: list[str] = []
    for candidate in means:
        try:
            return candidate(settings, reserved, rest), reasons
        except (Unavailable, PrivilegeMissing) as refused:
            reasons.append(f"{candidate.name}: {str(refused).splitlines()[0]}")
    raise PrivilegeMissing("no CPU can be reserved: " + "; ".join(reasons), "run as root")


def tree(pids: Iterable[int]) -> set[int]:
    """The processes and all their descendants."""
    parents = {pid: tasks.parent(pid) for pid in tasks.processes()}
    found = set(pids)
    grown = True
    while grown:
        born = {pid for pid, parent in parents.items() if parent in found} - found
        found |= born
        grown = bool(born)
    return found


def neighbours(keep: set[int]) -> list[int]:
    """Every user process that is neither kept nor init."""
    return [pid for pid in tasks.processes() if pid not in keep and pid != INIT and not tasks.is_kernel(pid)]
