"""Numbers of transactional runs in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tare.report.kit.figure import Figure
from tare.report.numbers import fixed, thousands

_WORKLOADS = {"tpcc": "TPC-C", "tatp": "TATP", "seats": "SEATS", "epinions": "Epinions", "ycsb": "YCSB"}


COUNTS = {
    "offered": "offered",
    "started": "started",
    "committed": "committed",
    "rolled_back": "rolled back",
    "deadlocks": "deadlocks",
    "serialization_failures": "serialization failures",
    "lock_timeouts": "lock time-outs",
    "lost": "lost",
    "errors": "errors",
    "shed": "shed",
    "unstarted": "never started",
    "retried": "retries",
    "retried_deadlock": "retries: deadlock",
    "retried_serialization": "retries: serialization failure",
    "retried_lock_timeout": "retries: lock time-out",
}
"""Names of the transactions' ends, by count."""

FAILED = ("deadlocks", "serialization_failures", "lock_timeouts", "lost", "errors", "shed", "unstarted")
"""Ends that the workload does not have."""


def workload(name: str) -> str:
    """Return the workload's name as its makers write it."""
    return _WORKLOADS.get(name, name)


def rate(value: float) -> str:
    """Transactions a second, four significant digits and no fewer than are before the point."""
    if value == 0:
        return "0/s"
    places = min(4, max(0, 3 - math.floor(math.log10(abs(value)))))
    text = fixed(value, places)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "/s"


class Schedule(Protocol):
    """Arrivals that were requested."""

    @property
    def arrivals(self) -> str: ...
    @property
    def phases(self) -> Sequence[Stretch]: ...


class Stretch(Protocol):
    @property
    def rate(self) -> float | None: ...
    @property
    def duration_s(self) -> float: ...


def due(value: float, asked: Schedule) -> str:
    """The schedule's rate. Chance has a Poisson process come out somewhat beside what was asked."""
    if asked.arrivals == "constant":
        return f"{rate(value)} were asked for"
    if asked.arrivals != "poisson":
        return f"{rate(value)} were due by the trace"
    wanted = sum((one.rate or 0.0) * one.duration_s for one in asked.phases) / lasting(asked)
    return f"{rate(value)} were due (Poisson arrivals at {rate(wanted)})"


def lasting(asked: Schedule) -> float:
    """Seconds, all phases together."""
    return sum(one.duration_s for one in asked.phases)


def seconds(value: float) -> str:
    """A stretch of time: 0.5 s, 90 s, 10 min."""
    if value >= 120 and value % 60 == 0:
        return f"{value / 60:g} min"
    return f"{value:.3g} s" if value < 1000 else f"{fixed(value, 0)} s"


def percent_off(share: float | None) -> str:
    """Difference of a rate from the intended one: " (0.01% less)"; "" if there is none, or no intended one."""
    size = abs(share or 0.0) * 100
    if share is None or size < 0.0005:
        return ""
    return f" ({size:.2g}% {'less' if share < 0 else 'more'})"


@runtime_checkable
class Interval(Protocol):
    """A figure of a document."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def figure(found: Interval, digits: int = 4) -> Figure:
    """In ms. `digits`: significant ones that it has at most."""
    return Figure(found.value, found.low, found.high, unit="ms", digits=digits)


def with_interval(found: Interval) -> str:
    """In running text: "11.2 ms [10.9, 11.5]"; without an interval the figure alone."""
    return figure(found).text


_SHORT = {"cpu": "CPU", "wal": "WAL", "io": "I/O", "lwlock": "LWLock"}


def measure(name: str) -> str:
    """Return the name of a server measure: "server CPU"."""
    return " ".join(_SHORT.get(word, word) for word in name.split("_"))


def rows(n: int) -> str:
    return f"{thousands(n)} row{'' if n == 1 else 's'}"
