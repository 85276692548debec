"""Reserving CPUs by a cgroup v2 cpuset partition: the kernel itself keeps everybody else off."""

from __future__ import annotations

from pathlib import Path

from tare.measure.machine import cpus
from tare.measure.machine.isolation import cgroups
from tare.measure.machine.isolation.confinement import GroupConfinement, MovedOff, Unavailable
from tare.measure.machine.settings import MachineSettings


class PartitionConfinement(GroupConfinement):
    name = "cpuset partition (cgroup v2)"
    hierarchy = ""

    def __init__(self, settings: MachineSettings, reserved: set[int], rest: set[int]) -> None:
        self._settings, self._reserved = settings, reserved
        mount = cgroups.v2()
        if mount is None:
            raise Unavailable("no cgroup v2 hierarchy is mounted")
        if "cpuset" not in (mount / "cgroup.controllers").read_text().split():
            raise Unavailable("its cpuset controller is bound to cgroup v1 or missing")
        if "cpuset" not in _enabled(mount):
            raise Unavailable(f"cpuset is not enabled for child groups ({mount}/cgroup.subtree_control)")
        self._mount = mount
        self._group = mount / cgroups.fresh_name("reserved")
        settings.make_cgroup(self._group)
        try:
            (self._group / "cpuset.cpus").write_text(cpus.show(reserved))
            (self._group / "cpuset.cpus.partition").write_text("root")
        except OSError as refused:
            raise Unavailable(f"the kernel refused the partition: {refused.strerror}") from refused
        state = (self._group / "cpuset.cpus.partition").read_text().strip()
        if state != "root":  # written without an error, yet not in force
            raise Unavailable(f"the partition is {state}")

    def move_off(self, keep: set[int]) -> MovedOff:
        return MovedOff(0, (), by_kernel=True)


def _enabled(group: Path) -> list[str]:
    try:
        return (group / "cgroup.subtree_control").read_text().split()
    except OSError:  # the root of a delegated tree may lack it
        return []
