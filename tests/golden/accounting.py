"""How Linux charges ticks to processes and to the processor (TTPv2 §7.3, Fig. 6 and 7, Tables VII, VIII).

A history says what each process did in each tick and for whom the disk worked. The kernel keeps
less: per-process and overall counts. Two histories with equal counts and different disk work
show that a process's I/O time cannot be derived from those counts when iowait is not zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """Activity of a process in a tick."""

    USER = "user"
    LOW_PRIORITY = "low priority"  # user mode, niced; a process's own counters call it user
    SYSTEM = "system"
    SOFTIRQ = "softirq"  # a process's own counters call it system
    BLOCK_IO = "block I/O delay"
    WAITING = "waiting"  # for the processor; counted nowhere


RUNNING = (Mode.USER, Mode.LOW_PRIORITY, Mode.SYSTEM, Mode.SOFTIRQ)


@dataclass(frozen=True, slots=True)
class Moment:
    """A process in a tick."""

    mode: Mode
    disk: bool = False  # the disk is working for this process


@dataclass(frozen=True, slots=True)
class ProcessCount:
    """Counts of the kernel for a process, ticks; and `disk`, which it does not report."""

    user: int
    system: int
    block_io: int
    disk: int

    @property
    def told(self) -> tuple[int, int, int]:
        return self.user, self.system, self.block_io


@dataclass(frozen=True, slots=True)
class Account:
    overall: Mapping[str, int]  # user, low priority, system, softirq, iowait, idle
    processes: Mapping[str, ProcessCount]


def account(history: Mapping[str, Sequence[Moment]]) -> Account:
    """Counts a history of one processor. All processes' sequences are of one length.

    Raises ValueError where two processes run in one tick.
    """
    overall = Counter(dict.fromkeys(("user", "low priority", "system", "softirq", "iowait", "idle"), 0))
    for tick, moments in enumerate(zip(*history.values(), strict=True), start=1):
        running = [m.mode for m in moments if m.mode in RUNNING]
        if len(running) > 1:
            raise ValueError(f"tick {tick}: {len(running)} processes run on one processor")
        if running:
            overall[running[0].value] += 1
        else:
            blocked = any(m.mode is Mode.BLOCK_IO for m in moments)
            overall["iowait" if blocked else "idle"] += 1
    return Account(dict(overall), {name: _count(moments) for name, moments in history.items()})


def _count(moments: Sequence[Moment]) -> ProcessCount:
    modes = Counter(m.mode for m in moments)
    return ProcessCount(
        user=modes[Mode.USER] + modes[Mode.LOW_PRIORITY],
        system=modes[Mode.SYSTEM] + modes[Mode.SOFTIRQ],
        block_io=modes[Mode.BLOCK_IO],
        disk=sum(m.disk for m in moments),
    )
