"""The instant at which a statement is planned and its execution has not begun, and how it is read."""

from __future__ import annotations

import time
from dataclasses import dataclass

_SCHEDULER_CLOCK = 2  # CPUCLOCK_SCHED: the scheduler's run time, exact also while the process runs


@dataclass(frozen=True, slots=True)
class Planned:
    """Readings of both clocks between planning and execution.

    `at_ns`: CLOCK_MONOTONIC, ns. `cpu_ns`: CPU clock of the process that planned, ns since its birth; None where it
    cannot be read."""

    at_ns: int
    cpu_ns: int | None


def planned_by(pid: int) -> Planned:
    """Read both clocks now, for a process that has just planned."""
    return Planned(time.monotonic_ns(), cpu_time_ns(pid))


def planned_here() -> Planned:
    """Read both clocks now, by the very process that has just planned."""
    return Planned(time.monotonic_ns(), time.process_time_ns())


def cpu_time_ns(pid: int) -> int | None:
    """Return the CPU time of all threads of a process since its birth, ns; None if there is no such process.

    By its POSIX CPU clock (clock_getcpuclockid(3)), which any user may read and which is not behind while it runs."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _SCHEDULER_CLOCK)
    except OSError:
        return None
