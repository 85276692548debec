"""Counters of a server that the kernel keeps while no probe is on: time in user mode, voluntary context switches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.profile.server import Server
from tare.protocol.profile.loss import Activity

_USER_TIME = 11
"""Place of utime behind the command's name in /proc/PID/stat, in clock ticks."""

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_WAITS = b"\nvoluntary_ctxt_switches:"

Task = tuple[int, int]
"""Process and thread."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Counters of all threads that a server has at one moment."""

    user_ticks: dict[int, int]  # by process
    waits: dict[Task, int]
    busy_s: float = 0.0  # of the machine

    def since(self, before: Counters, seconds: float) -> Activity:
        """Return the differences. Threads that have ended in between are left out: nothing is known of them."""
        user = sum(ticks - before.user_ticks.get(pid, 0) for pid, ticks in self.user_ticks.items())
        waits = sum(count - before.waits.get(task, 0) for task, count in self.waits.items())
        return Activity(seconds, user / _TICKS_A_SECOND, waits, self.busy_s - before.busy_s)


def counters(server: Server) -> Counters:
    """Read the counters; those of a server that has ended are empty."""
    user: dict[int, int] = {}
    waits: dict[Task, int] = {}
    for pid in server.processes():
        with suppress(OSError, IndexError, ValueError):
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            user[pid] = int(stat.rpartition(")")[2].split()[_USER_TIME])
        for thread in _threads(pid):
            with suppress(OSError, IndexError, ValueError):
                status = Path(f"/proc/{pid}/task/{thread}/status").read_bytes()
                waits[pid, thread] = int(status.partition(_WAITS)[2].split(maxsplit=1)[0])
    return Counters(user, waits, _busy_s())


def _busy_s() -> float:
    """Return the CPU time of all processes and interrupts, and the time that the hypervisor took, s."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS_A_SECOND


def _threads(pid: int) -> Iterator[int]:
    with suppress(OSError):
        yield from (int(one) for one in os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208
