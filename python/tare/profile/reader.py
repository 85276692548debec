"""Reading of a session's own recording while it continues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tare.protocol.profile.found import Findings, MarkersLoss, Overhead
from tare.protocol.profile.loss import Activity, cycle_ns
from tare.protocol.profile.overhead import Turn, own_ns


@dataclass(frozen=True, slots=True)
class Pace:
    """Number and duration of the transactions in some windows."""

    transactions: int  # that ended there; 0: none is whole
    seconds: float
    mean_ns: float
    cpus: int = 0  # that they share; 0: plenty
    busy: float = 0.0  # CPUs of the machine, while the markers alone were on
    intervals: float = 1.0  # of a transaction: each takes about one entry and exit of the markers

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds if self.seconds > 0 else 0.0

    @property
    def own_ns(self) -> float:
        """Time that a budget is a share of."""
        return own_ns(self.mean_ns, self.rate, self.cpus)

    @property
    def cycle_ns(self) -> float:
        """Time that a loss of throughput is a share of."""
        return cycle_ns(self.mean_ns, self.rate, self.busy, self.cpus)

    @property
    def of_cycle(self) -> float:
        """`own_ns`, as a share of `cycle_ns`."""
        return self.own_ns / self.cycle_ns if self.cycle_ns > 0 else 1.0


class Reader(Protocol):
    """The recording so far, assembled and analysed."""

    @property
    def megabytes(self) -> float:
        """Size of the recording."""

    def look(self) -> None:
        """Reads the whole recording again."""

    def glance(self, since: int) -> Sequence[Turn]:
        """Windows from this one on that take turns, without what was recorded before."""

    def open_threads(self) -> frozenset[int]:
        """Threads whose transaction was not seen to end; of the last `look`."""

    def pace(self, activity: Mapping[int, Activity], since: int = 0) -> Pace:
        """Return the pace of windows with the markers alone, from this one on; `activity`: by window."""

    def ended_since(self, window: int) -> int:
        """Transactions that ended in this window or later, without what was recorded before."""

    def findings(self, round_: int) -> Findings: ...

    def overhead(self, round_: int, pairs: float, pair_ns: float) -> Overhead | None:
        """`pairs`: entries and exits in a transaction, of the functions that were watched."""

    def markers_loss(self, activity: Mapping[int, Activity]) -> MarkersLoss | None:
        """Loss by the markers alone; `activity`: by window."""
