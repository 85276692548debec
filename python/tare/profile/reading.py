"""A recording so far, put together and analysed: after pairs of windows, between rounds, and at the end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tare.arrow import flags, numbers, received
from tare.errors import TareError
from tare.profile.excerpt import Windows, excerpt
from tare.profile.functions import Functions
from tare.profile.reader import Pace
from tare.profile.request import Asked
from tare.profile.transactions import Transactions
from tare.profile.windows import AFTER, MARKERS, PROBED
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Findings, MarkersLoss, Overhead
from tare.protocol.profile.loss import Activity, markers_loss
from tare.protocol.profile.measured import VALID, Function, Ints, Measured, Window, from_tables, reasons
from tare.protocol.profile.overhead import Turn, ended_in, ends, overhead, turns

if TYPE_CHECKING:
    from tare._probe import Assembled

REPLICATES = 100
"""Replicates of the bootstrap between rounds, while the load waits for a choice; the report has more."""


class Reading:
    """Figures of one recording; `look` reads it again, `glance` only its end."""

    def __init__(
        self, path: Path, transactions: Transactions, functions: Functions, asked: Asked, cpus: int
    ) -> None:
        self._path = path
        self._of = transactions
        self._functions = functions
        self._asked = asked
        self._cpus = cpus
        self._offsets = Windows(path)
        self._windows: Sequence[Window] = ()
        self._transactions = pa.table({})
        self._valid = np.zeros(0, dtype=bool)
        self._over: Ints = np.zeros(0, dtype=np.int64)
        self._paths = pa.table({})
        self._cells = pa.table({})
        self._texts: Mapping[int, str] = {}
        self._records = self._lost = 0

    def look(self) -> None:
        from tare._probe import assemble

        found: Assembled = assemble(str(self._path), json.dumps(self._of.rules))
        self._transactions = received(found.transactions)
        self._paths, self._cells = received(found.paths), received(found.cells)
        self._valid = reasons(self._transactions) == VALID
        self._over = ends(self._transactions)
        self._windows = [Window.of(one) for one in json.loads(found.windows)]
        self._texts, self._records, self._lost = found.texts, found.records, found.lost

    def glance(self, since: int) -> Sequence[Turn]:
        """Windows from `since` on that take turns, from the recording's end alone: the window before is read too, since
        transactions that began there end here."""
        transactions, windows = self._part(max(0, since - 1))
        return turns(transactions, [one for one in windows if one.number >= since])

    def ended_since(self, window: int) -> int:
        """Transactions that ended in this window or later, from the recording's end alone."""
        transactions, windows = self._part(window)
        over = ends(transactions)
        return sum(ended_in(over, one) for one in windows if one.number >= window and one.purpose == AFTER)

    def _part(self, since: int) -> tuple[pa.Table, list[Window]]:
        """Transactions and windows of the recording's end, from this window on."""
        from tare._probe import assemble

        with excerpt(self._path, self._offsets, since) as part:
            found: Assembled = assemble(str(part), json.dumps(self._of.rules))
        return received(found.transactions), [Window.of(one) for one in json.loads(found.windows)]

    @property
    def megabytes(self) -> float:
        """Size of the recording."""
        return self._path.stat().st_size / 1e6

    def threads(self) -> frozenset[int]:
        """Threads that ran transactions; of the last `look`."""
        return (
            frozenset(map(int, numbers(self._transactions["tid"])))
            if self._transactions.num_rows
            else frozenset()
        )

    def open_threads(self) -> frozenset[int]:
        """Threads whose last transaction has begun and was not seen to end."""
        if not self._transactions.num_rows:
            return frozenset()
        thread = numbers(self._transactions["tid"])
        last = np.lexsort((numbers(self._transactions["begin_ns"]), thread))
        last = last[np.append(np.diff(thread[last]) != 0, True)]
        over = flags(self._transactions["ended"])
        return frozenset(int(one) for one in thread[last[~over[last]]])

    def _of_thread(self, thread: int) -> Ints:
        """Places of this thread's transactions; of the last `look`."""
        if not self._transactions.num_rows:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(numbers(self._transactions["tid"]) == thread)

    def window_of(self, thread: int) -> Window | None:
        """Window in which this thread's last transaction began; of the last `look`."""
        own = self._of_thread(thread)
        if not len(own):
            return None
        last = own[np.argmax(numbers(self._transactions["begin_ns"])[own])]
        number = int(numbers(self._transactions["window"])[last])
        return next((one for one in self._windows if one.number == number), None)

    def last_function(self, thread: int, ended_ns: int | None = None) -> int | None:
        """Return the innermost watched function that this thread was in at its last records; None: not known.

        `ended_ns`: when the thread ended (CLOCK_MONOTONIC). Once a window is over, calls are left unseen: what it saw
        last is known up to the thread's end only where that window was still on."""
        from tare._probe import ProbeError, last_calls

        with suppress(TareError, OSError):
            self.look()
        own = self._of_thread(thread)
        if not len(own):
            return None
        with suppress(ProbeError, OSError):
            last = last_calls(self._path, int(numbers(self._transactions["pid"])[own[-1]]), thread)
            if last is not None and (ended_ns is None or ended_ns <= last[0]):
                return next(iter(last[1][-1:]), None)
        return None

    def calls_seen(self) -> list[tuple[int | None, int, int]]:
        """Calls of the whole recording, each kind once: the watched function above (None: the transaction), the
        function that was called, and the return address in its object (0: not known)."""
        if not self._paths.num_rows:
            return []
        parents, called, sites = (self._paths[name].to_pylist() for name in ("parent", "function", "site"))
        return [
            (None if parent is None else called[parent], function, site)
            for parent, function, site in zip(parents, called, sites, strict=True)
            if function is not None
        ]

    # Pace ------------------------------------------------------------------------
    def pace(self, activity: Mapping[int, Activity], since: int = 0) -> Pace:
        chosen = [one for one in self._windows if one.purpose == MARKERS and one.number >= since]
        durations = self._durations([one.number for one in chosen])
        return Pace(
            transactions=self._ended(chosen) if len(durations) else 0,
            seconds=sum(one.end_ns - one.begin_ns for one in chosen) / 1e9,
            mean_ns=float(durations.mean()) if len(durations) else 0.0,
            cpus=self._cpus,
            busy=_busy([activity[one.number] for one in chosen if one.number in activity]),
            intervals=marker_pairs(self._transactions) if len(durations) else 1.0,
        )

    def _ended(self, windows: Sequence[Window]) -> int:
        return sum(ended_in(self._over, one) for one in windows)

    def _durations(self, windows: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        if not self._transactions.num_rows:
            return np.zeros(0, dtype=np.int64)
        number = numbers(self._transactions["window"])
        return np.asarray(numbers(self._transactions["duration_ns"])[np.isin(number, windows) & self._valid])

    # Analysis --------------------------------------------------------------------
    def findings(self, round_: int) -> Findings:
        """Raises TooFewTransactions."""
        measured = self._measured(round_)
        if self._asked.server_time:
            measured = measured.without_waiting()
        return analyse(measured, replicates=REPLICATES, budget=self._asked.budget)

    def overhead(self, round_: int, pairs: float, pair_ns: float) -> Overhead | None:
        windows = [one for one in self._windows if one.round == round_]
        taken = turns(self._transactions, windows)
        if not any(one.transactions for one in taken):
            return None
        markers = marker_pairs(self._transactions)
        return overhead(taken, events=pairs, pair_ns=pair_ns, marker_events=markers, cpus=self._cpus)

    def markers_loss(self, activity: Mapping[int, Activity]) -> MarkersLoss | None:
        return markers_loss(self._over, self._windows, activity)

    def _measured(self, round_: int) -> Measured:
        chosen = [one for one in self._windows if one.round == round_ and one.purpose == PROBED]
        return from_tables(
            self._transactions,
            self._paths,
            self._cells,
            windows=chosen,
            functions=described(self._functions, {one for window in chosen for one in window.functions}),
            texts=self._texts,
            records=self._records,
            lost=self._lost,
            call_graph_height=self._functions.call_graph_height(self._of.tops),
        )


def _busy(of: Sequence[Activity]) -> float:
    """CPUs of the machine that were busy, in the mean."""
    seconds = sum(one.seconds for one in of)
    return sum(one.busy_s for one in of) / seconds if seconds else 0.0


def marker_pairs(transactions: pa.Table) -> float:
    """Return the pairs of a transaction: markers cost about one entry and exit in each of its intervals."""
    return float(numbers(transactions["intervals"]).mean()) if transactions.num_rows else 1.0


def described(functions: Functions, numbers: set[int]) -> list[Function]:
    """These functions as the analysis wants them."""
    return [
        Function(
            id=one.id,
            name=one.name,
            inferred=one.inferred,
            height=functions.height(one.id),
            object=one.object,
            address=one.address,
            size=one.size,
        )
        for one in (functions[number] for number in sorted(numbers))
    ]
