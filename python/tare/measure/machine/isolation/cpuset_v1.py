"""Reserving CPUs by two cgroup v1 cpusets: one for the command, one for everybody else."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tare.errors import PrivilegeMissing
from tare.measure.machine import cpus
from tare.measure.machine.isolation import cgroups
from tare.measure.machine.isolation.affinity import narrow
from tare.measure.machine.isolation.confinement import GroupConfinement, MovedOff, Unavailable, neighbours
from tare.measure.machine.putback import tasks
from tare.measure.machine.settings import MachineSettings

_PASSES = 3  # a process may fork while we go through the list


class CpusetConfinement(GroupConfinement):
    """Processes in a cpuset of their own (containers) stay in it and are narrowed by affinity."""

    name = "cpuset (cgroup v1)"
    hierarchy = "cpuset"

    def __init__(self, settings: MachineSettings, reserved: set[int], rest: set[int]) -> None:
        self._settings, self._reserved, self._rest = settings, reserved, rest
        mount, own = cgroups.v1_cpuset(), cgroups.own("cpuset")
        if mount is None or own is None:
            raise Unavailable("no cgroup v1 cpuset hierarchy is mounted")
        self._own = own
        self._mount = mount
        self._parent = cgroups.directory(mount, own)
        every = cpus.parse((self._parent / "cpuset.cpus").read_text())
        if not reserved <= every or not rest & every:
            raise Unavailable(f"the cpuset we are in has CPUs {cpus.show(every)} only")
        # Moving a thread between cpusets may lose the affinity it had chosen itself (before Linux 6.2).
        for tid in tasks.user_threads():
            with contextlib.suppress(ProcessLookupError):
                if os.sched_getaffinity(tid) < every:
                    settings.keep_affinity(tid, every)
        self._others = self._make(cgroups.fresh_name("others"), rest & every)
        self._group = self._make(cgroups.fresh_name("reserved"), reserved)

    def _make(self, name: str, allowed: set[int]) -> Path:
        group = self._parent / name
        self._settings.make_cgroup(group)
        try:
            # Without memory nodes of its own a cpuset takes no process.
            (group / "cpuset.mems").write_text((self._parent / "cpuset.mems").read_text())
            (group / "cpuset.cpus").write_text(cpus.show(allowed))
        except OSError as refused:
            raise Unavailable(f"the kernel refused the cpuset: {refused.strerror}") from refused
        return group

    def move_off(self, keep: set[int]) -> MovedOff:
        moved: set[int] = set()
        refused: dict[int, str] = {}
        for _ in range(_PASSES):
            for pid in neighbours(keep):
                try:
                    if cgroups.of(pid, "cpuset") == self._own:
                        # No step of its own: removing the cpuset sends everybody back to its parent.
                        (self._others / "cgroup.procs").write_text(str(pid))
                        moved.add(pid)
                    elif pid not in moved and narrow(self._settings, pid, self._rest):
                        moved.add(pid)
                except ProcessLookupError:
                    continue
                except (OSError, PrivilegeMissing):
                    refused[pid] = f"{tasks.name(pid)} ({pid})"
        return MovedOff(len(moved), tuple(refused.values()))
