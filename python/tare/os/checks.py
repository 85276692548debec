"""Conservation: sums of a trace against the kernel's own counters, and against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.os.calls import READS, WRITES, numbers
from tare.os.counters import ProcessCounters
from tare.os.levels import Level
from tare.os.sums import CallSum
from tare.os.tracing import Window

TOLERANCE = 0.01
"""Difference up to which two counts agree, as a share of the kernel's."""

PAGE_BYTES = 4096
_REAPERS = numbers(("wait4", "waitid"))


class Quantity(StrEnum):
    ELAPSED = "time of threads"
    ON_CPU = "CPU time"
    READ_CALLS = "read calls"
    READ_BYTES = "bytes read by calls"
    WRITE_CALLS = "write calls"
    WRITTEN_BYTES = "bytes written by calls"
    DISK_BYTES = "bytes read from disk"
    CACHED_BYTES = "bytes brought into the page cache"
    MESSAGE_BYTES = "bytes sent between nodes"


class Agreement(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    TOO_SMALL = "too small to compare"


SOURCES = {
    Quantity.ELAPSED: "threads times the window's length",
    Quantity.ON_CPU: "/proc/PID/task/*/schedstat",
    Quantity.READ_CALLS: "syscr of /proc/PID/io",
    Quantity.READ_BYTES: "rchar of /proc/PID/io",
    Quantity.WRITE_CALLS: "syscw of /proc/PID/io",
    Quantity.WRITTEN_BYTES: "wchar of /proc/PID/io",
    Quantity.DISK_BYTES: "read_bytes of /proc/PID/io",
    Quantity.CACHED_BYTES: "block requests of the same processes",
    Quantity.MESSAGE_BYTES: "bytes that the nodes received",
}

LEAST = {
    Quantity.ELAPSED: 1_000_000,
    Quantity.ON_CPU: 5_000_000,
    Quantity.READ_CALLS: 100,
    Quantity.READ_BYTES: 100 * PAGE_BYTES,
    Quantity.WRITE_CALLS: 100,
    Quantity.WRITTEN_BYTES: 100 * PAGE_BYTES,
    Quantity.DISK_BYTES: 100 * PAGE_BYTES,
    Quantity.CACHED_BYTES: 100 * PAGE_BYTES,
    Quantity.MESSAGE_BYTES: 10_000,
}
"""Below this, one call at a window's edge is more than the tolerance: ns, calls and bytes."""


Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Check:
    """`least` and `most`: the figure of SOURCES for the same processes, between whose readings the trace's are.
    `processes`: how many were compared."""

    quantity: Quantity
    traced: int
    least: int
    most: int
    processes: int
    agreement: Agreement

    @property
    def difference(self) -> float:
        """Share by which the trace is outside the kernel's figures."""
        nearest = min(max(self.traced, self.least), self.most)
        return (self.traced - nearest) / nearest if nearest else 0.0


def check(windows: Sequence[Window], level: Level, *, closed: bool) -> list[Check]:
    """Checks over all windows. `closed`: the nodes send to each other only."""
    found: dict[Quantity, list[tuple[int, Range]]] = {}
    if level is Level.PROC:
        return []  # its figures are the kernel's own
    for window in windows:
        for quantity, traced, kernel in _compared(window, level, closed=closed):
            found.setdefault(quantity, []).append((traced, kernel))
    return [_judged(quantity, found[quantity]) for quantity in Quantity if quantity in found]


def _judged(quantity: Quantity, figures: Sequence[tuple[int, Range]]) -> Check:
    traced = sum(n for n, _ in figures)
    least, most = (sum(kernel[end] for _, kernel in figures) for end in (0, 1))
    if max(traced, most) < LEAST[quantity]:
        agreement = Agreement.TOO_SMALL
    elif least * (1 - TOLERANCE) <= traced <= most * (1 + TOLERANCE):
        agreement = Agreement.AGREES
    else:
        agreement = Agreement.DIFFERS
    return Check(quantity, traced, least, most, len(figures), agreement)


def _compared(window: Window, level: Level, *, closed: bool) -> Iterator[tuple[Quantity, int, Range]]:
    """Traced and kernel's figure of each process that lived through the window."""
    per_process: dict[int, dict[int, CallSum]] = {}
    for (_, pid, call), sums in window.sums.calls.items():
        per_process.setdefault(pid, {})[call] = sums
    counts = {pid: named for (_, pid), named in window.sums.counts.items()}
    for pid, calls in per_process.items():
        readings = Readings.of(window, pid)
        if readings is None:
            continue
        if readings.has_same_threads:
            whole = window.sums.elapsed_ns * len(readings.first.threads)
            yield Quantity.ELAPSED, sum(sums.total_ns for sums in calls.values()), (whole, whole)
            yield from readings.compared(
                Quantity.ON_CPU, sum(sums.on_cpu_ns for sums in calls.values()), lambda found: found.cpu_ns
            )
        if any(calls[call].bytes for call in _REAPERS & calls.keys()):
            continue  # its counters of input and output took in those of children that ended
        if level.has_calls:
            yield from _call_checks(calls, readings)
        block_bytes = counts.get(pid, {}).get("block_read_bytes", 0)
        yield from readings.compared(Quantity.DISK_BYTES, block_bytes, lambda found: found.read_bytes)
        if level is Level.LIGHT and readings.wrote:
            continue  # pages that writes brought into the cache are not told apart
        added = counts.get(pid, {}).get("pages_added", 0) * PAGE_BYTES
        yield Quantity.CACHED_BYTES, added, (block_bytes, block_bytes)
    if closed:
        sent = sum(named.get("sent_bytes", 0) for named in window.sums.counts.values())
        received = sum(named.get("received_bytes", 0) for named in window.sums.counts.values())
        yield Quantity.MESSAGE_BYTES, sent, (received, received)


def _call_checks(calls: dict[int, CallSum], readings: Readings) -> Iterator[tuple[Quantity, int, Range]]:
    reads = [calls[call] for call in numbers(READS) & calls.keys()]
    writes = [calls[call] for call in numbers(WRITES) & calls.keys()]
    yield from readings.compared(Quantity.READ_CALLS, sum(s.count for s in reads), lambda found: found.syscr)
    yield from readings.compared(Quantity.READ_BYTES, sum(s.bytes for s in reads), lambda found: found.rchar)
    yield from readings.compared(
        Quantity.WRITE_CALLS, sum(s.count for s in writes), lambda found: found.syscw
    )
    yield from readings.compared(
        Quantity.WRITTEN_BYTES, sum(s.bytes for s in writes), lambda found: found.wchar
    )


@dataclass(frozen=True, slots=True)
class Readings:
    """The kernel's counters of a process that lived through a window: before and after its beginning and its end."""

    first: ProcessCounters
    second: ProcessCounters
    third: ProcessCounters
    last: ProcessCounters

    @classmethod
    def of(cls, window: Window, pid: int) -> Readings | None:
        found = [
            known.get(pid)
            for known in (
                window.before.earlier,
                window.before.later,
                window.after.earlier,
                window.after.later,
            )
        ]
        whole = [counters for counters in found if counters is not None]
        if len(whole) < 4 or len({counters.started for counters in whole}) > 1:
            return None
        return cls(*whole)

    @property
    def has_same_threads(self) -> bool:
        return self.first.threads == self.second.threads == self.third.threads == self.last.threads

    @property
    def wrote(self) -> bool:
        return self.first.wchar is None or self.first.wchar != self.last.wchar

    def compared(
        self, quantity: Quantity, traced: int, value: Callable[[ProcessCounters], int | None]
    ) -> Iterator[tuple[Quantity, int, Range]]:
        first, second, third, last = map(value, (self.first, self.second, self.third, self.last))
        if first is not None and second is not None and third is not None and last is not None:
            yield quantity, traced, (third - second, last - first)
