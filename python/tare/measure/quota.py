"""Time in which a control group was kept off its CPUs, its quota used up (cpu.stat, both versions of cgroups).

The kernel counts it for the group, over all CPUs, and books it to each waiting thread as run-queue wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.measure.machine.isolation import cgroups

_US = 1000


@dataclass(frozen=True, slots=True)
class Quota:
    """Control groups that a process is in, itself or by those above, which have a CPU quota."""

    groups: tuple[Path, ...] = ()

    def throttled_ns(self) -> int | None:
        """Return the throttled time so far, ns, over all CPUs; None if it cannot be read. 0 without a quota."""
        values = [_throttled_ns(group / "cpu.stat") for group in self.groups]
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None


def quota_of(pid: int) -> Quota:
    """Return the quota that a process is under now; none where no hierarchy with the cpu controller is mounted."""
    found: list[Path] = []
    for mount, controller in ((cgroups.v1_cpu(), "cpu"), (cgroups.v2(), "")):
        path = cgroups.of(pid, controller) if mount else None
        if mount and path:
            found += [
                group for group in _upwards(mount, cgroups.directory(mount, path)) if _is_limited(group)
            ]
    return Quota(tuple(found))


def _upwards(mount: Path, group: Path) -> Sequence[Path]:
    above = [group, *group.parents]
    return above[: above.index(mount) + 1]


def _is_limited(group: Path) -> bool:
    v1, v2 = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.max")
    return (v1 is not None and not v1.startswith("-")) or (v2 is not None and not v2.startswith("max"))


def _throttled_ns(stat: Path) -> int | None:
    fields = dict(line.split() for line in (_text(stat) or "").splitlines())
    if "throttled_usec" in fields:  # v2
        return int(fields["throttled_usec"]) * _US
    return int(fields["throttled_time"]) if "throttled_time" in fields else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
