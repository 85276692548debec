"""Whether a run at one rate is a result, or the server was at or over its capacity.

Near its knee a server has two regimes: a short queue, or every connection busy and a backlog that grows. It stays for
a minute in the one that it fell into. A run that changes from one to the other, or whose rate was not sustained,
says where the capacity ends and nothing about response times at its rate.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.workload.oltp.distribution import MS
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Second
from tare.workload.oltp.verdict import BacklogGrew, ConnectionsBroke, RateMissed, ServerRestarted

WINDOWS = 6
"""Windows that the measured seconds of a run are cut into."""

SLOWER = 4.0
"""Ratio of two windows' medians from which they are of two regimes, if the slower one kept all connections busy."""

GIVEN_UP = 0.01
"""Share of the transactions from which failures make a run invalid, as in the driver."""

OVERLOADED_S = 5.0
"""Seconds of arrivals that wait to be started: from there on a step is ended, since its server does not keep up."""


class Capacity(StrEnum):
    """How a run's rate stands to the capacity of its server."""

    SUSTAINED = "sustained"
    OVER = "over capacity"
    CHANGED_REGIME = "changed regime"
    FAILED = "failed"  # lost connections, errors of the DBMS or a condition that does not hold

    @property
    def is_result(self) -> bool:
        return self is Capacity.SUSTAINED


class Sign(StrEnum):
    """Fact by which a run's capacity was judged."""

    RATE_HELD = "rate held"
    RATE_MISSED = "rate missed"
    BACKLOG = "backlog"
    SHED = "shed"
    GIVEN_UP = "given up"
    TWO_REGIMES = "two regimes"
    ERRORS = "errors"
    CONDITIONS = "conditions"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Window:
    """Stretch of a run's measured part."""

    first: int  # second
    last: int
    rate: float  # transactions that ended in it, a second
    p50_ms: float | None  # median over its seconds of their medians; None: none ended
    p99_ms: float | None  # highest of its seconds
    backlog: int  # due and not started at its end
    busy: bool  # most of its seconds ended with every connection at work


@dataclass(frozen=True, slots=True)
class Judged:
    """Judgement of a run, with the fact behind it. `value` and `other` are the figures of the fact."""

    capacity: Capacity
    sign: Sign
    value: float = 0.0
    other: float = 0.0


def judge(run: OltpRun) -> Judged:
    """Judge an open-loop run of one rate."""
    counts = run.outcome.all.counts
    offered = max(counts.offered, 1)
    if any(check.failing for check in (*run.before, *run.after)):
        return Judged(Capacity.FAILED, Sign.CONDITIONS)
    broken = counts.lost + counts.errors
    restarted = any(isinstance(fact, ConnectionsBroke | ServerRestarted) for fact in run.invalid)
    if restarted or run.outcome.reconnects or broken > GIVEN_UP * offered:
        return Judged(Capacity.FAILED, Sign.ERRORS, broken, run.outcome.reconnects)
    if counts.unstarted:
        return Judged(Capacity.OVER, Sign.BACKLOG, counts.unstarted)
    if counts.shed:
        return Judged(Capacity.OVER, Sign.SHED, counts.shed)
    if counts.given_up > GIVEN_UP * offered:
        return Judged(Capacity.OVER, Sign.GIVEN_UP, counts.given_up / offered)
    for fact in run.invalid:
        if isinstance(fact, RateMissed):
            return Judged(Capacity.OVER, Sign.RATE_MISSED, fact.rate, fact.intended_rate)
        if isinstance(fact, BacklogGrew):
            return Judged(Capacity.OVER, Sign.BACKLOG, fact.last)
    if run.invalid:
        return Judged(Capacity.OVER, Sign.INVALID)
    if regimes := _regimes(windows(run)):
        return Judged(Capacity.CHANGED_REGIME, Sign.TWO_REGIMES, *regimes)
    return Judged(Capacity.SUSTAINED, Sign.RATE_HELD)


def measured(run: OltpRun) -> list[Second]:
    """Whole seconds of the schedule, without warm-up and drain."""
    scheduled = math.floor(sum(phase.duration_s for phase in run.asked.phases))
    return [second for second in run.seconds if 0 <= second.number < scheduled]


def windows(run: OltpRun) -> list[Window]:
    """The run's measured part in up to WINDOWS windows of whole seconds, a rest shorter than half of one left to the
    last."""
    seconds = measured(run)
    size = max(1, round(len(seconds) / WINDOWS))
    starts = range(0, len(seconds), size)
    parts = [seconds[start : start + size] for start in starts]
    if len(parts) > 1 and len(parts[-1]) * 2 < size:
        parts[-2:] = [parts[-2] + parts[-1]]
    return [_window(part, run.asked.connections) for part in parts]


def is_overloaded(second: Second, rate: float) -> bool:
    """Whether so much waits at the end of a second that the step need not be continued."""
    return second.backlog > OVERLOADED_S * rate


def _window(seconds: Sequence[Second], connections: int) -> Window:
    ended = [second.response for second in seconds if second.response is not None]
    return Window(
        first=seconds[0].number,
        last=seconds[-1].number,
        rate=sum(second.counts.finished for second in seconds) / len(seconds),
        p50_ms=statistics.median(summary.p50 for summary in ended) / MS if ended else None,
        p99_ms=max(summary.p99 for summary in ended) / MS if ended else None,
        backlog=seconds[-1].backlog,
        busy=2 * sum(second.running >= connections for second in seconds) > len(seconds),
    )


def _regimes(windows: Sequence[Window]) -> tuple[float, float] | None:
    """Medians, in ms, of the fastest window and of one of another regime; None where there is only one regime."""
    medians = [window.p50_ms for window in windows if window.p50_ms]
    slow = [window.p50_ms for window in windows if window.p50_ms and window.busy]
    if not slow or max(slow) < SLOWER * min(medians):
        return None
    return min(medians), max(slow)
