"""Throughput that a profile takes from its server, in seconds of it, predicted: what was taken, what may yet be.

A budget of 5% over 60 s is 3 s of throughput. Windows with probes take of it; so do Tare's start, the search for
functions (counting, pointers, analysis between rounds) and the report, which on a machine with nothing to spare take
as much as they compute. So the search goes on only while what it took last leaves half of the rest to windows, and
windows have what is left, over the time that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

from tare.protocol.profile.loss import scarcity

REPORT_CPU_S = 1.0
"""CPU time of Tare after the last window: the last look, the report, the end of the process."""

SEARCHING = 0.5
"""Share of what is left that a further search may take, and that windows leave while there may be one."""

LEAST = 0.25
"""Share of the budget that windows have in any case: a profile without any would tell nothing."""


@dataclass(slots=True)
class Spending:
    """`elsewhere_s` of each method: what was taken outside of windows so far, and the report will take."""

    budget: float  # share of the throughput, over the whole profile
    duration_s: float
    in_windows_s: float = 0.0
    search_s: float = 0.0  # that the last search took
    before_s: float = 0.0  # that counting took under another load

    def window(self, seconds: float, share: float) -> None:
        """Add what a window took; `seconds`: with the change of probes before it."""
        self.in_windows_s += seconds * share

    def left_s(self, elsewhere_s: float) -> float:
        return max(0.0, self.budget * self.duration_s - self.in_windows_s - elsewhere_s)

    def affords_search(self, elsewhere_s: float) -> bool:
        """Whether another search like the last one is affordable."""
        return self.search_s <= SEARCHING * self.left_s(elsewhere_s)

    def share(self, elsewhere_s: float, time_left_s: float, *, last: bool) -> float:
        """Return the share of the throughput that windows may take from now on. `last`: no search follows."""
        left_s = self.left_s(elsewhere_s) * (1.0 if last else 1 - SEARCHING)
        return max(LEAST * self.budget, left_s / time_left_s if time_left_s > 0 else 0.0)


def lost_to(cpu_s: float, busy: float, cpus: int) -> float:
    """Return the seconds of throughput that work of so much CPU time takes. `busy`: CPUs that are busy, of `cpus` (0:
    plenty)."""
    return cpu_s / cpus * scarcity(busy, cpus) if cpus else 0.0
