"""Traces that a tracer's harm leaves: probes in a process's memory, lines in a log, the kernel's messages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import numpy as np

from tare.dbms import local

BREAKPOINT = 0xCC

CRASH = re.compile(
    r"was terminated by signal|\bPANIC\b|got (signal|exception) \d|Assertion .*fail|\[FATAL\]|stack smashing"
    r"|A fatal error has been detected|INTERNAL Error|core dumped|terminating any other active server processes",
    re.IGNORECASE,
)
"""Lines in a server's log. A client's own errors look otherwise."""

KERNEL = re.compile(r"uprobe|segfault|traps:|general protection|invalid opcode|BUG:|WARNING:|hung_task")


def breakpoints(pid: int) -> int:
    """Breakpoints in the process's code that its files do not have: probes that are still on."""
    found = 0
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            addresses, mode, offset, _, inode, *path = line.split(maxsplit=5)
            if "x" not in mode or inode == "0" or not path:
                continue
            begin, end = (int(address, 16) for address in addresses.split("-"))
            with Path(f"/proc/{pid}/map_files/{begin:x}-{end:x}").open("rb") as file:
                file.seek(int(offset, 16))
                in_file = file.read(end - begin)
            memory.seek(begin)
            in_memory = memory.read(end - begin)
            length = min(len(in_file), len(in_memory))
            original, now = (np.frombuffer(code, np.uint8, length) for code in (in_file, in_memory))
            found += int(np.count_nonzero((now == BREAKPOINT) & (original != BREAKPOINT)))
    return found


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
