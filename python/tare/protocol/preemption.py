"""How far CPU time may be too low: what the scheduler takes from a thread that it preempts.

The clock of a woken thread starts at the wake-up. Until the switch the preempted thread still runs, and that time is
booked to the other.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Role
from tare.measure.records import QE
from tare.protocol.measures import CPU_OF_ALL

COST_NS = 14_000
"""Cost of a preemption. Measured: 6 to 13.5 µs, as medians of thousands (docs/truth.md)."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """Medians over the QEs. `share`: of the CPU time."""

    count: float  # involuntary switches of the query processes
    bound_ms: float
    share: float


def preemption(qes: Sequence[QE]) -> Preemption | None:
    """None where a query process does not show its switches, or no CPU time is known."""
    counts = [known for qe in qes if (known := _count(qe)) is not None]
    used = [cpu for qe in qes if (cpu := CPU_OF_ALL.read(qe))]
    if not counts or not used or len(counts) < len(qes):
        return None
    count = statistics.median(counts)
    bound_ms = count * COST_NS / 1e6
    return Preemption(count, bound_ms, bound_ms / statistics.median(used))


def _count(qe: QE) -> int | None:
    found = [process.involuntary_switches for process in qe.processes if process.role is Role.QUERY]
    known = [count for count in found if count is not None]
    return sum(known) if known and len(known) == len(found) else None
