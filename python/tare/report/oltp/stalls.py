"""Standstills of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tare.report.oltp.document import Stall
from tare.workload.oltp import events
from tare.workload.oltp.run import OltpRun

_S = 1e9


def stalls(run: OltpRun) -> list[Stall]:
    """Stretches of the measured part in which transactions were due or running, and none came to its end."""
    if run.outcome.stalls is None:
        return list(_of_seconds(run.seconds))
    return [_stall(one) for one in run.outcome.stalls]


def _stall(seen: events.Stall) -> Stall:
    from_s, to_s = seen.from_ns / _S, seen.to_ns / _S
    return Stall(
        first=math.floor(from_s),
        last=max(math.floor(from_s), math.ceil(to_s) - 1),
        from_s=from_s,
        to_s=to_s,
        waiting=seen.waiting,
    )


def _of_seconds(seconds: Sequence[events.Second]) -> Iterator[Stall]:
    """All that a run recorded by an earlier driver shows: whole seconds of the clock.

    At a rate below one per second a quiet second is no stall, if all that was due has ended."""
    stall: Stall | None = None
    for second in seconds:
        waiting = second.backlog + second.running
        if second.number < 0 or second.counts.finished or not waiting:
            continue
        if stall is not None and stall.last == second.number - 1:
            stall = Stall(first=stall.first, last=second.number, waiting=waiting)
            continue
        if stall is not None:
            yield stall
        stall = Stall(first=second.number, last=second.number, waiting=waiting)
    if stall is not None:
        yield stall
