"""Traces that a tracer's harm leaves: probes in a process's memory, lines in a log, the kernel's messages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tare.dbms import local
from tare.profile.other_tracers import breakpoints

CRASH = re.compile(
    r"was terminated by signal|\bPANIC\b|got (signal|exception) \d|Assertion .*fail|\[FATAL\]|stack smashing"
    r"|A fatal error has been detected|INTERNAL Error|core dumped|terminating any other active server processes",
    re.IGNORECASE,
)
"""Lines in a server's log. A client's own errors look otherwise."""

KERNEL = re.compile(r"uprobe|segfault|traps:|general protection|invalid opcode|BUG:|WARNING:|hung_task")


def probes_in(pid: int) -> int:
    """Breakpoints in the code of a server's processes."""
    found = 0
    for one in processes(pid):
        with suppress(OSError):  # a connection's process that has ended
            found += breakpoints(one)
    return found


def processes(pid: int) -> list[int]:
    """The server's own and those that it has forked."""
    return [pid, *local.twins_beneath(pid)]


def crash_lines(log: Path, since: int) -> list[str]:
    """Lines behind this many bytes of a log."""
    if not log.exists():
        return []
    with log.open("rb") as stream:
        stream.seek(since)
        lines = stream.read().decode(errors="replace").splitlines()
    return [line for line in lines if CRASH.search(line)]


def kernel_lines() -> list[str]:
    """Messages of the kernel about probes and crashes; none where they may not be read."""
    done = subprocess.run(["dmesg"], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if KERNEL.search(line)]


def new_kernel_lines(before: Collection[str]) -> list[str]:
    return [line for line in kernel_lines() if line not in before]
