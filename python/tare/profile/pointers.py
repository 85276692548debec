"""Callees by pointer, which no call graph of a binary has: virtual functions, callbacks, tables of functions, plugins.

Functions that may be called so are counted, a thousand at a time and for a moment; most are not called at all. Those
that are called are then timed for a moment each, in groups that fit the budget, and their return addresses say who
calls them. Both are over in seconds whatever the size of the program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tare.profile.functions import Functions
from tare.profile.recording import Recording
from tare.protocol.profile.loss import Activity
from tare.protocol.profile.refinement import Costs

COUNTED = 1_024
"""Functions counted at the same time, of which few are called."""

GLANCE_S = 0.03
"""After it a batch whose probes take too much is let go of."""

TOO_HOT = 0.5
"""Share of the CPUs that probes of a batch may take for longer than a glance, and share of a transaction's time that
timing a function may take for COUNTING_S. It is then known who calls it, though the budget has no room for it."""

COUNTING_S = 0.1
TIMING_S = 0.25
MOST_S = 1.0
"""Seconds of one window: the least for counting and for timing, and the most where transactions are long."""

LONG = 3.0
"""Mean durations of a transaction in a window, at least."""

GROUP = 128
"""Functions timed at the same time, at most."""

COUNTING = 0.6
"""Share of the time for counting; the rest is for timing those that are called."""


class Pace(Protocol):
    """Part of `tare.profile.session.Pace`."""

    @property
    def mean_ns(self) -> float: ...
    @property
    def rate(self) -> float: ...
    @property
    def own_ns(self) -> float: ...


class Reader(Protocol):
    """Part of `tare.profile.reading.Reading`."""

    def look(self) -> None: ...
    def pace(self, activity: Mapping[int, Activity], since: int = 0) -> Pace: ...
    def calls_seen(self) -> list[tuple[int | None, int, int]]: ...


@dataclass(slots=True)
class Search:
    """Result of a search."""

    candidates: int = 0  # functions that may be called by pointer and were not counted before
    counted: int = 0
    called: dict[int, float] = field(default_factory=dict)  # calls a second
    too_hot: tuple[int, ...] = ()  # called too often to be timed even for a moment
    calls: list[tuple[int | None, int, int]] = field(
        default_factory=list
    )  # as `Reader.calls_seen`, of those timed
    untimed: int = 0  # for which the time was too short

    @property
    def is_complete(self) -> bool:
        return self.counted == self.candidates and not self.untimed


class PointerSearch:
    """Looks for callees by pointer in the recording's own windows. `seconds`: the most that one search takes."""

    def __init__(
        self,
        recording: Recording,
        reader: Reader,
        functions: Functions,
        budget: float,
        seconds: float,
        cpus: int,
    ) -> None:
        self._recording = recording
        self._reader = reader
        self._functions = functions
        self._budget = budget
        self._seconds = seconds
        self._cpus = max(1, cpus)
        self._counted: set[int] = set()

    def forget(self) -> None:
        """The load is another: functions that were not called may be called now."""
        self._counted.clear()

    def candidates(self, known: Collection[int]) -> list[int]:
        """Functions to count, the most plausible first; `known`: those whose callers are known already."""
        every = self._functions.called_by_pointer()
        return [one.id for one in every if one.id not in self._counted and one.id not in known]

    def search(self, candidates: Sequence[int], above: Sequence[int], costs: Costs) -> Search:
        """`above`: watched functions beneath which callees are sought; they stay watched. Raises ServerEnded."""
        found = Search(len(candidates))
        pace, round_, begun = (
            self._reader.pace(self._recording.activity),
            self._recording.last_round,
            self._recording.clock(),
        )
        mean_s = pace.mean_ns / 1e9
        self._count(candidates, found, costs, mean_s, round_, begun + COUNTING * self._seconds)
        transactions_ns = pace.rate * pace.own_ns  # a second
        each = {
            one: calls * costs.weight(one) * costs.pair_ns / transactions_ns if transactions_ns > 0 else 0.0
            for one, calls in found.called.items()
        }
        self._time(above, each, found, mean_s, round_, begun + self._seconds)
        self._recording.rest(round_)
        self._reader.look()
        timed = set(found.called)
        found.calls = [call for call in self._reader.calls_seen() if call[1] in timed]
        return found

    def _count(
        self, candidates: Sequence[int], found: Search, costs: Costs, mean_s: float, round_: int, until: float
    ) -> None:
        lasts = min(MOST_S, max(COUNTING_S, LONG * mean_s))
        for begin in range(0, len(candidates), COUNTED):
            if begin and self._recording.clock() + lasts > until:
                return
            batch = candidates[begin : begin + COUNTED]
            weights = {
                one: self._recording.entry_weight(one) for one in batch
            }  # not while they are counted: it may take long
            self._recording.count(batch, round_)
            seconds = self._recording.last(GLANCE_S)
            if self._load(self._recording.calls(), seconds, costs.pair_ns, weights) <= TOO_HOT:
                seconds += self._recording.last(lasts - GLANCE_S)
            entries = self._recording.calls()
            found.called |= {one: entries[one] / seconds for one in batch if entries.get(one, 0)}
            found.counted += len(batch)
            self._counted |= set(batch)

    def _load(
        self, entries: Mapping[int, int], seconds: float, pair_ns: float, weights: Mapping[int, float]
    ) -> float:
        """Share of the CPUs that these probes take. `weights`: of an entry, in pairs."""
        pairs = sum(calls * weights.get(one, 0.0) for one, calls in entries.items())
        return pairs * pair_ns / 1e9 / seconds / self._cpus

    def _time(
        self,
        above: Sequence[int],
        each: Mapping[int, float],
        found: Search,
        mean_s: float,
        round_: int,
        until: float,
    ) -> None:
        """The seldom called first: a group holds many of them. `each`: the share of a transaction's time that timing a
        function takes."""
        found.too_hot = tuple(one for one, share in each.items() if share > TOO_HOT)
        able = sorted((one for one in each if one not in found.too_hot), key=lambda one: (each[one], one))
        lasts = min(MOST_S, max(TIMING_S, LONG * mean_s))
        while able:
            if self._recording.clock() + lasts > until:
                found.untimed = len(able)
                return
            group = [able.pop(0)]
            taken = each[group[0]]
            while able and len(group) < GROUP and taken + each[able[0]] <= self._budget:
                taken += each[able[0]]
                group.append(able.pop(0))
            self._recording.glimpse([*above, *group], round_)
            self._recording.last(lasts if taken <= self._budget else COUNTING_S)
