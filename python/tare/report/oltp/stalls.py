"""Where a run stood still."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report.oltp.document import Stall
from tare.workload.oltp.told import Second


def stalls(seconds: Sequence[Second]) -> list[Stall]:
    """Stretches of the measured part in which transactions were due or running, and none came to its end.

    At a rate below one per second a quiet second is no stall, if all that was due has ended."""
    found: list[Stall] = []
    for one in seconds:
        if one.number < 0 or one.counts.finished or not one.backlog + one.running:
            continue
        waiting = one.backlog + one.running
        if found and found[-1].last == one.number - 1:
            found[-1] = Stall(first=found[-1].first, last=one.number, waiting=waiting)
        else:
            found.append(Stall(first=one.number, last=one.number, waiting=waiting))
    return found
