"""Pressure on the machine while a test runs: CPU time that the host gave to others, and waits for a CPU."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_STEAL = 7
"""Position of steal in the first line of /proc/stat, after the line's name."""


@dataclass(frozen=True)
class Reading:
    """Counters of the whole machine at one instant."""

    at_s: float
    steal_s: float  # over all CPUs
    waited_s: float  # time in which some task waited for a CPU

    @classmethod
    def now(cls) -> Reading:
        """Read the counters. A counter that this kernel lacks is 0."""
        return cls(time.monotonic(), _steal_s(), _waited_s())

    def pressure_since(self, earlier: Reading) -> Pressure:
        elapsed_s = max(self.at_s - earlier.at_s, 1e-9)
        cpus = os.cpu_count() or 1
        return Pressure(
            round((self.steal_s - earlier.steal_s) / elapsed_s / cpus, 3),
            round((self.waited_s - earlier.waited_s) / elapsed_s, 3),
        )


@dataclass(frozen=True)
class Pressure:
    """Shares of a period, from 0 to 1."""

    steal_ratio: float = 0.0
    waited_ratio: float = 0.0

    def __str__(self) -> str:
        return f"steal {self.steal_ratio:.0%}, waiting for a CPU {self.waited_ratio:.0%}"


def _steal_s() -> float:
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        return int(fields[_STEAL]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _waited_s() -> float:
    try:
        some = Path("/proc/pressure/cpu").read_text().split("\n", 1)[0]
        return int(some.rsplit("total=", 1)[1]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0
