"""Findings in the figures of a stage: what limits it, which nodes differ, and what the system does in vain."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.os.messages import Multicast
from tare.os.sums import STATES, Sums
from tare.os.tables import RoleSums, of_node

BUSY = 0.7
"""Share of the elapsed time from which one thread's computing limits a query."""

WAITING = 0.3
"""Share of the elapsed time from which a wait is a finding."""

QUEUEING = 0.15
READING = 0.1
"""The paper finds reading of more than a tenth of the execution time in half of its queries (Table 2)."""

SKEW = 1.5
REPEATED = 0.1
NOT_READY = 0.2


class Kind(StrEnum):
    CPU = "cpu"
    DISK = "disk"
    RUN_QUEUE = "run queue"
    READING = "reading"
    SKEW = "skew"
    READ_AHEAD = "read-ahead"
    REPEATED = "repeated messages"


@dataclass(frozen=True, slots=True)
class Finding:
    """`share`: what the kind measures, from 0 to 1; of SKEW the largest node's CPU time over the mean."""

    kind: Kind
    node: int
    role: str
    share: float


def findings(sums: Sums, roles: Sequence[RoleSums], multicast: Multicast | None) -> list[Finding]:
    """The strongest first, by kind: what limits, then the rest."""
    return [*_limits(sums, roles), *_reading(sums, roles), *_skew(roles), *_messages(multicast)]


def _limits(sums: Sums, roles: Sequence[RoleSums]) -> Iterator[Finding]:
    """Shares of the elapsed time for the busiest role of each node."""
    elapsed = sums.elapsed_ns
    if not elapsed:
        return
    for node in sorted({place.node for place in roles}):
        busiest = max((place for place in roles if place.node == node), key=lambda place: place.on_cpu_ns)
        spent = dict(zip(STATES, busiest.everything.spent_ns, strict=True))
        shares = {state: ns / elapsed for state, ns in spent.items()}
        if shares["on_cpu"] >= BUSY:
            yield Finding(Kind.CPU, node, busiest.role, shares["on_cpu"])
        if shares["block_io"] >= WAITING:
            yield Finding(Kind.DISK, node, busiest.role, shares["block_io"])
        if shares["run_queue"] >= QUEUEING:
            yield Finding(Kind.RUN_QUEUE, node, busiest.role, shares["run_queue"])


def _reading(sums: Sums, roles: Sequence[RoleSums]) -> Iterator[Finding]:
    for node in sorted({place.node for place in roles}):
        share = of_node(roles, node).reading_ns / sums.elapsed_ns if sums.elapsed_ns else 0.0
        if share >= READING:
            yield Finding(Kind.READING, node, "", share)
    for place in roles:
        shares = place.hit_shares
        if shares and place.counts.get("reads_missed", 0) >= 100 and 1 - shares[0] >= NOT_READY:
            yield Finding(Kind.READ_AHEAD, place.node, place.role, 1 - shares[0])


def _skew(roles: Sequence[RoleSums]) -> Iterator[Finding]:
    """Nodes that have a role in common and use unequal CPU time in it."""
    names = {place.role for place in roles}
    for name in sorted(names):
        of_role = [place for place in roles if place.role == name and place.on_cpu_ns > 10_000_000]
        if len(of_role) < 3:
            continue
        mean = statistics.fmean(place.on_cpu_ns for place in of_role)
        largest = max(of_role, key=lambda place: place.on_cpu_ns)
        if largest.on_cpu_ns >= SKEW * mean:
            yield Finding(Kind.SKEW, largest.node, name, largest.on_cpu_ns / mean)


def _messages(multicast: Multicast | None) -> Iterator[Finding]:
    if multicast and multicast.every.messages >= 100 and (multicast.every.share or 0.0) >= REPEATED:
        yield Finding(Kind.REPEATED, 0, "", multicast.every.share or 0.0)
