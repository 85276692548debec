"""Processes and threads as /proc lists them: one life of each is named by its id and its start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD, field 9 (flags) of stat


def _fields(task: int) -> list[str] | None:
    """The fields of /proc/TASK/stat from the third on; None if the task is gone."""
    try:
        text = (PROC / str(task) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name is in parentheses and may hold spaces and parentheses itself.
    return text.rpartition(")")[2].split()


def start(task: int) -> int | None:
    """Start of a process or thread, in ticks since boot; None if it is gone."""
    fields = _fields(task)
    return int(fields[19]) if fields else None


def parent(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[1]) if fields else None


def stopped(pid: int) -> bool:
    """Stopped by a signal (not by a tracer)."""
    fields = _fields(pid)
    return fields is not None and fields[0] == "T"


def is_kernel(pid: int) -> bool:
    fields = _fields(pid)
    return fields is not None and bool(int(fields[6]) & _KERNEL_THREAD)


def name(pid: int) -> str:
    """The task's name (at most 15 bytes); empty if it is gone."""
    try:
        return (PROC / str(pid) / "comm").read_text(errors="replace").rstrip("\n")
    except OSError:
        return ""


def processes() -> list[int]:
    """Every process of this PID namespace, kernel threads too."""
    return sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())


def threads(pid: int) -> list[int]:
    """The threads of a process; empty if it is gone."""
    with contextlib.suppress(OSError):
        return sorted(int(entry.name) for entry in (PROC / str(pid) / "task").iterdir())
    return []


def user_threads() -> Iterator[int]:
    """Every thread of every process that is not the kernel's."""
    for pid in processes():
        if not is_kernel(pid):
            yield from threads(pid)


def boot_id() -> str:
    """Changes with every boot: what an earlier boot's journal holds was undone by the restart."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()
