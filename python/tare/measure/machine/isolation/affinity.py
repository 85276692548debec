"""Reserving CPUs by the affinity of every thread this user may change: no cgroup needed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from tare.errors import PrivilegeMissing
from tare.measure.machine.isolation.confinement import Confinement, MovedOff, neighbours
from tare.measure.machine.putback import tasks
from tare.measure.machine.putback.steps import Inherited
from tare.measure.machine.settings import MachineSettings

_PASSES = 3  # a process may fork while we go through the list


def narrow(settings: MachineSettings, pid: int, allowed: set[int]) -> bool:
    """Takes ``pid``'s threads off all CPUs but ``allowed``. A thread that is pinned only to
    others stays where it is. Returns whether any thread moved; raises PrivilegeMissing."""
    moved = False
    for tid in tasks.threads(pid):
        try:
            wanted = os.sched_getaffinity(tid) & allowed
        except ProcessLookupError:
            continue
        if wanted:
            moved |= settings.set_affinity(tid, wanted)
    return moved


def narrow_all(settings: MachineSettings, keep: set[int], allowed: set[int]) -> MovedOff:
    moved: set[int] = set()
    refused: dict[int, str] = {}
    for _ in range(_PASSES):
        for pid in neighbours(keep):
            try:
                if narrow(settings, pid, allowed):
                    moved.add(pid)
            except PrivilegeMissing:
                refused[pid] = f"{tasks.name(pid)} ({pid})"
    return MovedOff(len(moved), tuple(refused.values()))


class AffinityConfinement(Confinement):
    name = "affinity"

    def __init__(self, settings: MachineSettings, reserved: set[int], rest: set[int]) -> None:
        self._settings, self._reserved, self._rest = settings, reserved, rest
        every = tuple(sorted(reserved | rest))
        now = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        settings.record(Inherited(now, (tuple(sorted(rest)), tuple(sorted(reserved))), every))

    def entry(self) -> Callable[[], None]:
        return lambda: os.sched_setaffinity(0, self._reserved)

    def take_in(self, pids: Iterable[int]) -> list[int]:
        taken = []
        for pid in pids:
            for tid in tasks.threads(pid):
                self._settings.set_affinity(tid, self._reserved)
            taken.append(pid)
        return taken

    def move_off(self, keep: set[int]) -> MovedOff:
        return narrow_all(self._settings, keep, self._rest)
