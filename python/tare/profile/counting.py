"""Counts of calls in a transaction, so that the cost of timing functions is known before they are timed.

Entries are counted in batches, each for a fraction of a second, and transactions are not: to time their markers took
15% of the throughput of a PostgreSQL, and counting 1%. What is called a thousand times a transaction slows the
server while it is counted, and a glance shows it: after GLANCE_S the batch lets go of what has been counted well enough
by then, and of its dearest functions until the rest is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.profile import told
from tare.profile.recording import Recording
from tare.protocol.profile.loss import share_of

BATCH = 48
GLANCE_S = 0.05
STEP_S = 0.1
"""Time after which what a batch has taken is looked at again."""

HOT = 0.02
"""Share of a CPU that counting a batch may take for longer than a glance."""

ENOUGH = 200
"""Entries after which a function need not be counted for longer: they give its calls to within 7%."""

LEAST_S = 0.25
MOST_S = 1.0
LONGEST = 2.0
"""Times the requested time that all batches together may take. Functions come in the order of their worth, so those
that are then left uncounted, and so unwatched, are worth least."""


def batches(functions: Sequence[int], size: int = BATCH) -> Iterator[Sequence[int]]:
    for begin in range(0, len(functions), size):
        yield functions[begin : begin + size]


@dataclass(frozen=True, slots=True)
class Counted:
    """Entries of a function in part of a window."""

    window: int
    entries: int
    seconds: float
    taken_ns: float  # of CPUs, predicted


class Counts:
    """Calls of each function in a transaction."""

    def __init__(self) -> None:
        self._entries: dict[int, Counted] = {}  # by function

    def __contains__(self, function: int) -> bool:
        return function in self._entries

    def take(
        self,
        recording: Recording,
        functions: Sequence[int],
        seconds: float,
        round_: int,
        tell: Callable[[told.Told], None],
        size: int = BATCH,
        entry_ns: Callable[[int], float] = lambda _: 0.0,
    ) -> int:
        """Counts those not counted before, for so long in all if that is enough for every batch, and for LONGEST times
        as long at most. `entry_ns`: what counting an entry of a function costs. Returns how many it left uncounted for
        lack of time. Raises ServerEnded."""
        new = [one for one in dict.fromkeys(functions) if one not in self]
        parts = list(batches(new, size))
        each = min(MOST_S, max(LEAST_S, seconds / max(1, len(parts))))
        until = recording.clock() + LONGEST * max(seconds, LEAST_S)
        for number, part in enumerate(parts, 1):
            if recording.clock() > until:
                return sum(len(one) for one in parts[number - 1 :])
            tell(told.Counting(number, len(parts), len(part)))
            prices = {one: entry_ns(one) for one in part}  # not while they are counted: it may take long
            recording.count(part, round_)
            lasted = recording.last(GLANCE_S)
            entries = self._keep(recording, part, lasted, prices)
            left = _cheap({one: entries.get(one, 0) for one in part}, prices, HOT * 1e9 * lasted)
            if len(left) < len(part):
                if not left:
                    continue
                part = left
                recording.count(part, round_)
                lasted = 0.0
            self._go_on(recording, part, lasted, lasted + each - GLANCE_S, prices)
        return 0

    def _go_on(
        self,
        recording: Recording,
        functions: Sequence[int],
        lasted: float,
        until: float,
        prices: Mapping[int, float],
    ) -> None:
        """Count until the window has lasted so long, or has taken what a batch may: calls come in bursts, too."""
        taken_ns = 0.0
        while lasted < until and taken_ns < HOT * 1e9 * MOST_S:
            lasted += recording.last(min(STEP_S, until - lasted))
            entries = self._keep(recording, functions, lasted, prices)
            taken_ns = sum(entries.get(one, 0) * prices[one] for one in functions)

    def _keep(
        self, recording: Recording, functions: Sequence[int], seconds: float, prices: Mapping[int, float]
    ) -> dict[int, int]:
        """Entries in the last window so far, in the place of what was known of these functions."""
        entries = recording.calls()
        for one in functions:
            if one not in recording.refused:
                count = entries.get(one, 0)
                self._entries[one] = Counted(recording.last_window, count, seconds, count * prices[one])
        return entries

    def lost_s(self, second_ns: float) -> float:
        """Seconds of throughput that counting took, predicted. `second_ns`: time of all transactions of a second, which
        what probes take is a share of (`cycle_ns`)."""
        taken_ns: dict[int, float] = {}  # by window
        lasted: dict[int, float] = {}
        for one in self._entries.values():
            taken_ns[one.window] = taken_ns.get(one.window, 0.0) + one.taken_ns
            lasted[one.window] = one.seconds
        if second_ns <= 0:
            return 0.0
        return sum(
            share_of(taken_ns[window] / seconds / second_ns) * seconds
            for window, seconds in lasted.items()
            if seconds > 0
        )

    def per_transaction(self, rate: float) -> dict[int, float]:
        """`rate`: transactions a second while no probe is on."""
        return {
            function: one.entries / (rate * one.seconds) if rate * one.seconds > 0 else 0.0
            for function, one in self._entries.items()
        }


def _cheap(entries: Mapping[int, int], entry_ns: Mapping[int, float], most_ns: float) -> list[int]:
    """Return functions, in their order, that need more entries and whose entries so far took `most_ns` together at
    most: without the dearest."""
    taken_ns = {one: count * entry_ns[one] for one, count in entries.items() if count < ENOUGH}
    total_ns = sum(taken_ns.values())
    for one in sorted(taken_ns, key=lambda one: -taken_ns[one]):
        if total_ns <= most_ns:
            break
        total_ns -= taken_ns.pop(one)
    return list(taken_ns)
