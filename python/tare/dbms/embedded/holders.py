"""Processes that hold locks on a file, as the kernel lists them. Free of imports: an engine's process uses it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress


def holders(paths: Iterable[str], own: int) -> str:
    """Name the processes other than `own` that hold a lock on one of the files: "process 4711 (psql)"; empty if there
    is none."""
    files = set()
    for path in paths:
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116
            files.add(f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}")
    found = sorted(pid for pid, file in _locks() if file in files and pid != own)
    return ", ".join(f"process {pid} ({_name(pid)})" for pid in dict.fromkeys(found))


def _locks() -> list[tuple[int, str]]:
    """Process, and device and inode, of each lock that is held."""
    with suppress(OSError), open("/proc/locks", encoding="ascii") as lines:  # noqa: PTH123
        fields = [line.split() for line in lines if "->" not in line]  # an arrow: it waits
        return [(int(row[4]), row[5]) for row in fields if int(row[4]) > 0]
    return []


def _name(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read().strip()
    return "unknown"
