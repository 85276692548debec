"""Checks: the disks' schedulers and write caches."""

from __future__ import annotations

import re
from pathlib import Path

from tare.measure.machine.doctor.finding import Area, Finding, Status, read
from tare.measure.machine.doctor.surroundings import Surroundings

_NO_DISK = ("loop", "ram", "zram", "sr", "fd", "dm-", "md")  # no device of their own below them


def _disks() -> list[Path]:
    return [
        disk
        for disk in sorted(Path("/sys/block").glob("*"))
        if not disk.name.startswith(_NO_DISK) and read(str(disk / "size")) not in (None, "0")
    ]


def scheduler(around: Surroundings) -> Finding:
    name, why = "I/O scheduler", "bfq and mq-deadline reorder requests; none leaves a fast device to itself"
    chosen = {}
    for disk in _disks():
        found = re.search(r"\[([\w-]+)]", read(str(disk / "queue/scheduler")) or "")
        chosen[disk.name] = found[1] if found else "none"
    if not chosen:
        return Finding(name, Area.DISTURBANCE, Status.NOT_APPLICABLE, "no disk is shown", why)
    observed = ", ".join(f"{disk}: {how}" for disk, how in chosen.items())
    turning = [
        d for d, how in chosen.items() if how != "none" and read(f"/sys/block/{d}/queue/rotational") == "0"
    ]
    if not turning:
        return Finding(name, Area.DISTURBANCE, Status.GOOD, observed, why)
    step = f"as root: echo none > /sys/block/{turning[0]}/queue/scheduler"
    return Finding(name, Area.DISTURBANCE, Status.ADVICE, observed, why, step)


def write_cache(around: Surroundings) -> Finding:
    name, why = "disk write cache", "writes that end in a volatile cache look faster than the disk is"
    caches = {disk.name: read(str(disk / "queue/write_cache")) or "unknown" for disk in _disks()}
    observed = ", ".join(f"{disk}: {how}" for disk, how in caches.items())
    if around.hypervisor or not caches:
        seen = f"the host's affair (the guest sees {observed})" if caches else "no disk is shown"
        return Finding(name, Area.DISTURBANCE, Status.NOT_APPLICABLE, seen, why)
    if "write back" not in caches.values():
        return Finding(name, Area.DISTURBANCE, Status.GOOD, observed, why)
    disk = next(disk for disk, how in caches.items() if how == "write back")
    return Finding(
        name, Area.DISTURBANCE, Status.ADVICE, observed, why,
        f"for write workloads, as root: hdparm -W0 /dev/{disk} (not every drive obeys: TTPv2 §3.1)",
    )  # fmt: skip
