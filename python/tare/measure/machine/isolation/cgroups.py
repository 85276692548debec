"""Mount point of the cpuset controller, in either version of cgroups."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def _mounts(kind: str, option: str = "") -> list[Path]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        file_system, _, super_options = after.split(" ", 2)
        if file_system == kind and (not option or option in super_options.split(",")):
            found.append(Path(before.split()[4]))
    return found


def own(controller: str) -> str | None:
    """This process's cgroup, as `of`."""
    return of(os.getpid(), controller)


def of(pid: int, controller: str) -> str | None:
    """A process's cgroup in the v1 hierarchy of ``controller``, or in v2 for an empty name.

    None if the process is gone or there is no such hierarchy."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    return _in_hierarchy(lines, controller)


def _in_hierarchy(lines: list[str], controller: str) -> str | None:
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def directory(mount: Path, path: str) -> Path:
    """A cgroup's directory; the mount itself where the path is outside of what is mounted."""
    inside = mount / path.lstrip("/")
    return inside if inside.is_dir() else mount


def v1_cpuset() -> Path | None:
    """The mount point of the v1 cpuset hierarchy."""
    return next(iter(_mounts("cgroup", "cpuset")), None)


def v1_cpu() -> Path | None:
    """The mount point of the v1 cpu hierarchy."""
    return next(iter(_mounts("cgroup", "cpu")), None)


def v1_cpuacct() -> Path | None:
    """The mount point of the v1 cpuacct hierarchy."""
    return next(iter(_mounts("cgroup", "cpuacct")), None)


def v2() -> Path | None:
    """The mount point of the unified hierarchy."""
    return next(iter(_mounts("cgroup2")), None)


def fresh_name(use: str) -> str:
    """Not by pid: two PID namespaces may share a cgroup hierarchy."""
    return f"tare-{use}-{secrets.token_hex(4)}"
