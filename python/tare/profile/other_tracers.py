"""Other tracers of a process: probes in its text that its files do not have, and a debugger."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

BREAKPOINT = 0xCC


class OtherTracers:
    """Finds tracers that are on a process while Tare has no probe on it, each kind once."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._has_probes = self._has_debugger = False

    def look(self) -> list[str]:
        """Return a sentence for each kind that is new."""
        found = []
        with suppress(OSError):
            if not self._has_probes and (number := breakpoints(self._pid)):
                self._has_probes = True
                probes = "one probe" if number == 1 else f"{number} probes"
                found.append(
                    f"another tracer has {probes} in process {self._pid}, and what they take is among the times of "
                    "this profile: remove them, and profile again"
                )
        with suppress(OSError):
            if not self._has_debugger and (tracer := debugger(self._pid)):
                self._has_debugger = True
                found.append(
                    f"process {tracer} traces process {self._pid} as a debugger does, and may stop it at any time: "
                    "detach it, and profile again"
                )
        return found


def breakpoints(pid: int) -> int:
    """Number of breakpoints in the process's code that its files do not have. Raises OSError."""
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
            if in_memory == in_file:
                continue
            length = min(len(in_file), len(in_memory))
            original, now = (np.frombuffer(code, np.uint8, length) for code in (in_file, in_memory))
            found += int(np.count_nonzero((now == BREAKPOINT) & (original != BREAKPOINT)))
    return found


def debugger(pid: int) -> int:
    """Process id of what traces a process by ptrace(2); 0: none. Raises OSError."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("TracerPid:"):
            return int(line.split()[1])
    return 0
