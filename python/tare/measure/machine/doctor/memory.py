"""Checks: memory that may be slow, scarce or elsewhere."""

from __future__ import annotations

import re

from tare.measure.machine.doctor.finding import Area, Finding, Status, disturbance, read
from tare.measure.machine.doctor.surroundings import Surroundings

_SCARCE = 0.10  # of all memory: below it the kernel reclaims while a query runs
_SWAPPINESS = 10
_PRESSED = 5.0  # per cent of the time


def _meminfo() -> dict[str, int]:
    """Bytes by name."""
    rows = (line.split() for line in (read("/proc/meminfo") or "").splitlines())
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) >= 2}


def free(around: Surroundings) -> Finding:
    name, why = "free memory", "where it is scarce the kernel reclaims pages in the middle of a query"
    memory = _meminfo()
    available, total = memory["MemAvailable"], memory["MemTotal"]
    observed = f"{available / 2**30:.1f} of {total / 2**30:.1f} GiB available"
    if available < _SCARCE * total:
        return Finding(name, Area.DISTURBANCE, Status.PROBLEM, observed, why, "end what you do not need")
    return Finding(name, Area.DISTURBANCE, Status.GOOD, observed, why)


def swap(around: Surroundings) -> Finding:
    name, why = "swap", "a page of the DBMS that was swapped out comes back as a major fault"
    memory = _meminfo()
    total, used = memory.get("SwapTotal", 0), memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)
    swappiness = int(read("/proc/sys/vm/swappiness") or 0)
    if total == 0:
        return Finding(
            name, Area.DISTURBANCE, Status.GOOD, f"none (swappiness {swappiness} has no effect)", why
        )
    observed = f"{used / 2**20:.0f} of {total / 2**20:.0f} MiB used, swappiness {swappiness}"
    is_quiet = swappiness <= _SWAPPINESS and used == 0
    step = "as root: sysctl -w vm.swappiness=1, then swapoff -a && swapon -a"
    return disturbance(name, observed, why, is_quiet=is_quiet, advice=step)


def huge_pages(around: Surroundings) -> Finding:
    name = "transparent huge pages"
    why = "`always` lets the kernel assemble huge pages in the middle of a query"
    text = read("/sys/kernel/mm/transparent_hugepage/enabled")
    if text is None:
        return Finding(name, Area.DISTURBANCE, Status.NOT_APPLICABLE, "this kernel has none", why)
    chosen = re.search(r"\[(\w+)]", text)
    mode = chosen[1] if chosen else text
    step = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, then restart the DBMS"
    return disturbance(name, mode, why, is_quiet=mode != "always", advice=step)


def pressure(around: Surroundings) -> Finding:
    name, why = "pressure", "the share of the last 10 s in which somebody waited for CPU, memory or I/O"
    shares = {}
    for what in ("cpu", "memory", "io"):
        some = re.search(r"some avg10=([\d.]+)", read(f"/proc/pressure/{what}") or "")
        if some:
            shares[what] = float(some[1])
    if not shares:
        return Finding(name, Area.DISTURBANCE, Status.UNKNOWN, "this kernel has no /proc/pressure", why)
    observed = ", ".join(f"{what} {share:.1f}%" for what, share in shares.items())
    step = "wait until it is over, or end who causes it (other processes)"
    return disturbance(name, observed, why, is_quiet=max(shares.values()) < _PRESSED, advice=step)
