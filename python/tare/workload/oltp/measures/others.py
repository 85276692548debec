"""CPU time of processes that have nothing to do with the run, and how long the driver's threads wait for a CPU.

Others' time is what the kernel counts for all processes, less what it counts for ours: short-lived processes of others
are in it. Kernel threads and interrupts are neither, as most of theirs is the work that the load makes. The kernel
counts all processes' time by samples and ours exactly, so that a second's figure may be some percent of a CPU off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tare._probe import TICK_NS, CpuTicks, Process

_S = 1e9  # ns
_Life = tuple[int, int]  # process id and its start


class Others:
    """Sums since the first reading."""

    def __init__(self) -> None:
        self._busy_ns: int | None = None
        self._ours: dict[_Life, int] = {}
        self._at_ns = 0  # of CLOCK_BOOTTIME
        self._sum_ns = 0

    def read(
        self, total: CpuTicks, processes: Iterable[Process], is_ours: Callable[[Process], bool]
    ) -> dict[str, float]:
        """`total`: of all CPUs; `is_ours` is asked of each process that is no kernel thread."""
        busy_ns = (total.user + total.nice + total.system) * TICK_NS
        at_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        ours = {(one.tgid, one.start_ns): _used_ns(one) for one in processes if one.kernel or is_ours(one)}
        if self._busy_ns is not None:
            used_ns = sum(used - self._before(life, used) for life, used in ours.items())
            self._sum_ns += max(0, busy_ns - self._busy_ns - used_ns)
        self._busy_ns, self._ours, self._at_ns = busy_ns, ours, at_ns
        return {"others_cpu": self._sum_ns / _S}

    def _before(self, life: _Life, used_ns: int) -> int:
        """Return the CPU time of a process at the last reading. One that is older and new to us counts from now on."""
        born_since = life[1] >= self._at_ns
        return min(used_ns, self._ours.get(life, 0 if born_since else used_ns))


def driver(process: Process) -> dict[str, float]:
    """Return the driver's time in the run queue, where the kernel has it."""
    waited_ns = process.run_queue_ns
    return {} if waited_ns is None else {"driver_run_queue": waited_ns / _S}


def _used_ns(process: Process) -> int:
    return process.user_ns + process.system_ns if process.run_ns is None else process.run_ns
