"""Figures of a window by node and role: the rows of the paper's Tables 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tare.os.calls import OUTSIDE, READS, call_name
from tare.os.roles import Rule, role_of
from tare.os.sums import CallSum, Sums, add_slots

JIFFY_S = 0.01
"""The paper counts by jiffies of 10 ms."""


@dataclass(slots=True)
class RoleSums:
    """Sums over the processes of a role on a node. `calls`: by name, without the time outside calls."""

    node: int
    role: str
    processes: int = 0
    outside: CallSum = field(default_factory=CallSum)
    calls: dict[str, CallSum] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    histograms: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def everything(self) -> CallSum:
        return sum(self.calls.values(), self.outside)

    @property
    def on_cpu_ns(self) -> int:
        return self.everything.on_cpu_ns

    @property
    def reading_ns(self) -> int:
        """CPU time in calls that read (the paper's Table 2: without the wait for the disk)."""
        return sum(sums.on_cpu_ns for name, sums in self.calls.items() if name in READS)

    @property
    def hit_shares(self) -> tuple[float, float, float] | None:
        """Shares of buffered reads that found all pages ready, still being read ahead, and missing (Table 3)."""
        kinds = [self.counts.get(name, 0) for name in ("reads_ready", "reads_in_flight", "reads_missed")]
        whole = sum(kinds)
        return (kinds[0] / whole, kinds[1] / whole, kinds[2] / whole) if whole else None


def by_role(sums: Sums, titles: Mapping[int, str], rules: Sequence[Rule]) -> list[RoleSums]:
    """Sums of each role of each node, roles with the most CPU time first within a node."""
    found: dict[tuple[int, str], RoleSums] = {}
    roles: dict[tuple[int, int], RoleSums] = {}

    def role(node: int, pid: int) -> RoleSums:
        place = roles.get((node, pid))
        if place is None:
            process = sums.processes.get(pid)
            name = role_of(titles.get(pid, ""), process.name if process else "unknown", rules)
            place = roles[node, pid] = found.setdefault((node, name), RoleSums(node, name))
            place.processes += 1
        return place

    for (node, pid, call), call_sums in sums.calls.items():
        into = role(node, pid)
        if call == OUTSIDE:
            into.outside += call_sums
        else:
            name = call_name(call)
            into.calls[name] = into.calls.get(name, CallSum()) + call_sums
    for (node, pid), counts in sums.counts.items():
        counted = role(node, pid).counts
        for name, n in counts.items():
            counted[name] = counted.get(name, 0) + n
    for (node, pid, name), slots in sums.histograms.items():
        histograms = role(node, pid).histograms
        histograms[name] = add_slots(histograms.get(name, ()), slots)
    return sorted(found.values(), key=lambda place: (place.node, -place.on_cpu_ns, place.role))


def of_node(roles: Sequence[RoleSums], node: int) -> RoleSums:
    """Sums over all roles of a node."""
    whole = RoleSums(node, "")
    for place in roles:
        if place.node != node:
            continue
        whole.processes += place.processes
        whole.outside += place.outside
        for name, call_sums in place.calls.items():
            whole.calls[name] = whole.calls.get(name, CallSum()) + call_sums
        for name, n in place.counts.items():
            whole.counts[name] = whole.counts.get(name, 0) + n
        for name, slots in place.histograms.items():
            whole.histograms[name] = add_slots(whole.histograms.get(name, ()), slots)
    return whole
