"""First look at a server: how many transactions come, how long they take, and what their markers alone cost.

Entries of the markers are counted for COUNTING_S before any is timed, which costs half as much. Where so many come that
timing them may take more than is allowed, they are timed for moments only. Windows with the markers and without any
probe take turns: what the kernel counts of the server in both shows what the markers cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tare.errors import TareError, UsageError
from tare.profile import told
from tare.profile.costs import Price
from tare.profile.functions import Functions
from tare.profile.reader import Pace, Reader
from tare.profile.recording import Recording
from tare.profile.request import Asked
from tare.profile.transactions import Transactions
from tare.protocol.profile.found import MarkersLoss
from tare.protocol.profile.loss import share_of

LOOKING = 0
"""The round number of windows before the first: looking for transactions, and counting."""

COUNTING_S = 0.25
PAIRS = 4
"""Windows with the markers, and as many without any probe, of the first look."""

MORE = 2
"""Times that it goes on for as many where the markers took more than is allowed, and the interval does not say so."""

WINDOW_S = 0.25
"""Length of its windows."""

MOMENT_S = 0.1
"""Length of its windows where the markers may be too hot."""

MOST_WRONG = 3.0
"""Times that a prediction may be too low. What is measured in so few windows is believed no further."""

MOST_LOST = 0.9
"""Share of the throughput that the markers take, beyond which a rate without them is not computed."""

MOST_CALLERS = 3
"""Functions that are named instead of one that is too hot."""


class NoTransactions(TareError):
    """None came while they were waited for."""


@dataclass(frozen=True, slots=True)
class Look:
    """Result of the first look."""

    since: int  # its first window
    pace: Pace
    markers: MarkersLoss | None  # None: not measured
    marker_pairs: float = 1.0  # usual pairs that the markers of an interval cost, by what was counted


class FirstLook:
    """`compares`: whether windows without any probe are made, since markers may cost."""

    def __init__(
        self,
        recording: Recording,
        reader: Reader,
        transactions: Transactions,
        functions: Functions,
        asked: Asked,
        price: Price,
        tell: Callable[[told.Told], None],
        *,
        cpus: int,
        compares: bool,
    ) -> None:
        self._recording = recording
        self._reader = reader
        self._transactions = transactions
        self._functions = functions
        self._asked = asked
        self._price = price
        self._tell = tell
        self._cpus = cpus
        self._compares = compares

    def take(self, wait_s: float) -> Look:
        """`wait_s`: for the first transaction. Raises NoTransactions, UsageError where the markers are too hot."""
        recording = self._recording
        begun = recording.clock()
        is_idle = False
        while True:
            entries = self._count() if self._compares else {}
            since = recording.last_window + 1
            if self._compares:
                length = MOMENT_S if self._is_perhaps_hot(entries) else WINDOW_S
                self._alternate(length)
            else:
                recording.mark(LOOKING)
                recording.last(self._asked.settling_s)
            pace = self._pace(since)
            if pace.transactions and is_idle and self._compares:
                is_idle = False  # once more, under the load from beginning to end
                recording.forget()
                continue
            if pace.transactions:
                if not self._compares:
                    return Look(since, pace, None)
                markers = self._reader.markers_loss(recording.activity)
                for _ in range(MORE):
                    if not self._is_undecided(markers):
                        break
                    self._alternate(length)
                    pace = self._pace(since)
                    markers = self._reader.markers_loss(recording.activity)
                pairs = self._marker_pairs(pace, markers, entries)
                self._refuse_hot(pace, markers, pairs, entries)
                return Look(since, pace, markers, pairs)
            waited = recording.clock() - begun
            if waited >= wait_s:
                raise NoTransactions(
                    f"no transaction ended in {waited:.0f} s ({self._transactions.says})",
                    "put a load on the server meanwhile, such as tare bench oltp run; "
                    "or name another transaction: --txn function:NAME",
                )
            is_idle = True
            recording.forget()  # an idle server's counts say nothing of one under a load
            self._tell(told.Waiting(waited))

    def _alternate(self, length: float) -> None:
        for pair in range(PAIRS):
            for marked in (True, False) if pair % 2 else (False, True):
                (self._recording.mark if marked else self._recording.bare)(LOOKING)
                self._recording.last(length)

    def _pace(self, since: int) -> Pace:
        """Pace of the windows from this one on, read while no probe is on."""
        self._recording.rest(LOOKING)
        self._reader.look()
        return self._reader.pace(self._recording.activity, since)

    def _is_undecided(self, markers: MarkersLoss | None) -> bool:
        """Whether the markers took more than is allowed, and perhaps by chance."""
        return markers is not None and markers.figure.low <= self._asked.most_markers < markers.figure.value

    def _count(self) -> Mapping[int, float]:
        """Entries of the markers a second, by function."""
        self._recording.count_markers(LOOKING)
        lasted = self._recording.last(COUNTING_S)
        return {one: entries / lasted for one, entries in self._recording.calls().items()}

    def _is_perhaps_hot(self, entries: Mapping[int, float]) -> bool:
        """Whether to time so many would take more of all CPUs than the markers may of the throughput."""
        taken_ns = self._recording.markers_weight(entries) * self._price.pair_ns
        return taken_ns > 1e9 * self._cpus * self._asked.most_markers

    def _marker_pairs(self, pace: Pace, markers: MarkersLoss | None, entries: Mapping[int, float]) -> float:
        """Usual pairs that the markers of an interval cost. They were counted while none was timed."""
        lost = 0.0 if markers is None else min(max(markers.figure.value, 0.0), MOST_LOST)
        return self._recording.markers_weight(entries) * (1 - lost) / (pace.rate * pace.intervals)

    def _refuse_hot(
        self, pace: Pace, markers: MarkersLoss | None, pairs: float, entries: Mapping[int, float]
    ) -> None:
        """Raises UsageError where the markers alone take more than is allowed, by arithmetic and by what was
        measured."""
        most = self._asked.most_markers
        predicted = share_of(pace.intervals * pairs * self._price.pair_ns / pace.cycle_ns)
        if markers is None:
            if predicted <= most:
                return
            shown = f"about {predicted:.0%} of the throughput, by arithmetic"
        else:
            figure = markers.figure
            by_both = min(predicted, figure.value) > most
            if not by_both and not (figure.low > most and MOST_WRONG * predicted > most):
                return
            shown = f"{figure.value:.0%} of the throughput ({max(0.0, figure.low):.0%} to {figure.high:.0%})"
        names = ", ".join(self._functions[one].name for one in sorted(self._transactions.marking))
        raise UsageError(
            f"to time what marks a transaction ({names}, entered {sum(entries.values()):,.0f} times a second) takes "
            f"{shown}; at most {most:.0%} is allowed while it is timed",
            self.instead(),
        )

    def instead(self) -> str:
        """A transaction that comes less often, and the option that allows more."""
        found: list[str] = []
        if self._transactions.txn.startswith("function:"):
            (root,) = self._transactions.marking
            found = [one.name for one in self._functions.callers(root)][:MOST_CALLERS]
        called = f", such as a function that calls it ({', '.join(found)})" if found else ""
        return f"name one that comes less often with --txn function:NAME{called}; or allow more with --peak"
