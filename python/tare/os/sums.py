"""Sums of a window: the difference of two snapshots of the tracer, by node, process and system call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tare._probe import OsSnapshot

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

STATES = ("on_cpu", "run_queue", "sleep", "block_io", "other_wait")
"""States of a thread, in the order of the tracer."""

Key = tuple[int, int]
"""Node and process id."""


@dataclass(frozen=True, slots=True)
class CallSum:
    """Calls of one number. `bytes`: sum of positive results. `spent_ns`: time of threads in it, by STATES."""

    count: int = 0
    errors: int = 0
    bytes: int = 0
    spent_ns: tuple[int, ...] = (0,) * len(STATES)

    def __add__(self, other: CallSum) -> CallSum:
        return CallSum(
            self.count + other.count,
            self.errors + other.errors,
            self.bytes + other.bytes,
            tuple(map(sum, zip(self.spent_ns, other.spent_ns, strict=True))),
        )

    def __sub__(self, other: CallSum) -> CallSum:
        spent = zip(self.spent_ns, other.spent_ns, strict=True)
        return CallSum(
            self.count - other.count,
            self.errors - other.errors,
            self.bytes - other.bytes,
            tuple(after - before for after, before in spent),
        )

    @property
    def on_cpu_ns(self) -> int:
        return self.spent_ns[0]

    @property
    def total_ns(self) -> int:
        return sum(self.spent_ns)


@dataclass(frozen=True, slots=True)
class Process:
    node: int
    name: str  # of the program, at most 15 bytes
    title: str = ""  # command line when it ended; empty while it runs


@dataclass(frozen=True, slots=True)
class Activity:
    """`io_ns`: time in which a block request of the node was open; `busy_ns`: CPU time of its threads in that time."""

    io_ns: int = 0
    busy_ns: int = 0


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums since the tracer's start, or of a window."""

    began_ns: int  # CLOCK_MONOTONIC
    ended_ns: int
    calls: Mapping[tuple[int, int, int], CallSum] = field(default_factory=dict)
    counts: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    histograms: Mapping[tuple[int, int, str], tuple[int, ...]] = field(default_factory=dict)
    activities: Mapping[int, Activity] = field(default_factory=dict)
    processes: Mapping[int, Process] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    passed_over: int = 0
    programs_ns: int = 0  # run time of the tracer's programs
    program_runs: int = 0

    @property
    def elapsed_ns(self) -> int:
        return self.ended_ns - self.began_ns

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost."""
        return not self.passed_over and not any(self.lost.values())


def read_sums(snapshot: OsSnapshot, began_ns: int) -> Sums:
    """Everything since the tracer's start."""
    programs = snapshot.programs()
    return Sums(
        began_ns=began_ns,
        ended_ns=snapshot.at_ns,
        calls={
            (node, tgid, call): CallSum(count, errors, size, tuple(spent))
            for node, tgid, call, count, errors, size, spent in snapshot.calls()
        },
        counts={(node, tgid): counts for node, tgid, counts in snapshot.counts()},
        histograms={(node, tgid, name): tuple(slots) for node, tgid, name, slots in snapshot.histograms()},
        activities={node: Activity(io, busy) for node, io, busy in snapshot.activities()},
        processes={tgid: Process(node, name, title) for node, tgid, name, title in snapshot.processes()},
        lost=snapshot.lost,
        passed_over=sum(passed for _, _, _, passed in programs),
        programs_ns=sum(ns for _, _, ns, _ in programs),
        program_runs=sum(runs for _, runs, _, _ in programs),
    )


def difference(before: Sums, after: Sums) -> Sums:
    """Sums of the window between two snapshots of one tracer."""
    none: dict[str, int] = {}
    return Sums(
        began_ns=before.ended_ns,
        ended_ns=after.ended_ns,
        calls=_subtract(before.calls, after.calls, lambda a, b: a - b, CallSum()),
        counts=_subtract(
            before.counts,
            after.counts,
            lambda a, b: {name: n - b.get(name, 0) for name, n in a.items()},
            none,
        ),
        histograms=_subtract(before.histograms, after.histograms, _subtract_slots, ()),
        activities=_subtract(
            before.activities,
            after.activities,
            lambda a, b: Activity(a.io_ns - b.io_ns, a.busy_ns - b.busy_ns),
            Activity(),
        ),
        processes=after.processes,
        lost={name: n - before.lost.get(name, 0) for name, n in after.lost.items()},
        passed_over=after.passed_over - before.passed_over,
        programs_ns=after.programs_ns - before.programs_ns,
        program_runs=after.program_runs - before.program_runs,
    )


def total(windows: Iterable[Sums]) -> Sums:
    """Sums over several windows of one tracer, as long as all of them."""
    whole = list(windows)
    elapsed = sum(window.elapsed_ns for window in whole)
    calls: dict[tuple[int, int, int], CallSum] = {}
    counts: dict[Key, dict[str, int]] = {}
    histograms: dict[tuple[int, int, str], tuple[int, ...]] = {}
    activities: dict[int, Activity] = {}
    lost: dict[str, int] = {}
    for window in whole:
        for key, sums in window.calls.items():
            calls[key] = calls.get(key, CallSum()) + sums
        for process, named in window.counts.items():
            into = counts.setdefault(process, {})
            for name, n in named.items():
                into[name] = into.get(name, 0) + n
        for place, slots in window.histograms.items():
            histograms[place] = add_slots(histograms.get(place, ()), slots)
        for node, activity in window.activities.items():
            so_far = activities.get(node, Activity())
            activities[node] = Activity(so_far.io_ns + activity.io_ns, so_far.busy_ns + activity.busy_ns)
        for name, n in window.lost.items():
            lost[name] = lost.get(name, 0) + n
    began = whole[0].began_ns if whole else 0
    return Sums(
        began_ns=began,
        ended_ns=began + elapsed,
        calls=calls,
        counts=counts,
        histograms=histograms,
        activities=activities,
        processes={pid: process for window in whole for pid, process in window.processes.items()},
        lost=lost,
        passed_over=sum(window.passed_over for window in whole),
        programs_ns=sum(window.programs_ns for window in whole),
        program_runs=sum(window.program_runs for window in whole),
    )


def add_slots(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if not a or not b:
        return a or b
    return tuple(map(sum, zip(a, b, strict=True)))


def _subtract_slots(after: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(after, before, strict=True)) if before else after


def _subtract(before: Mapping[K, V], after: Mapping[K, V], minus: Callable[[V, V], V], none: V) -> dict[K, V]:
    return {key: minus(value, before.get(key, none)) for key, value in after.items()}
