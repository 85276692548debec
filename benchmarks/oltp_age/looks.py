"""Age and remaining time of a transaction at a lock wait: what is held against what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.oltp_age.correlation import Correlation, Numbers, correlation
from benchmarks.oltp_age.owners import Owned

MS = 1e6


@dataclass(frozen=True)
class Columns:
    """Times of many waits, ns of one clock."""

    kind: NDArray[np.int64]
    born: NDArray[np.int64]  # when the transaction was due
    started: NDArray[np.int64]  # when its first statement was sent
    ended: NDArray[np.int64]
    began: NDArray[np.int64]  # the wait: when it came to the queue
    granted: NDArray[np.int64]

    @property
    def transactions(self) -> int:
        return len(self.first.kind)

    def of(self, kind: int) -> Columns:
        return self._chosen(self.kind == kind)

    @property
    def first(self) -> Columns:
        """The first wait of each transaction: of a queue that is joined anew at every grant, one waits many times."""
        order = np.lexsort((self.began, self.ended, self.started))
        began, ended = self.started[order], self.ended[order]
        anew = np.ones(len(order), dtype=bool)
        anew[1:] = (began[1:] != began[:-1]) | (ended[1:] != ended[:-1])
        return self._chosen(order[anew])

    def _chosen(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Columns:
        return Columns(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def columns(owned: Sequence[Owned]) -> Columns:
    def field(name: str) -> NDArray[np.int64]:
        return np.array([int(one.transaction[name]) for one in owned], dtype=np.int64)

    began = np.array([one.wait.began for one in owned], dtype=np.int64)
    granted = np.array([one.wait.granted for one in owned], dtype=np.int64)
    return Columns(field("kind"), field("intended"), field("started"), field("ended"), began, granted)


@dataclass(frozen=True)
class Look:
    name: str
    age: Callable[[Columns], NDArray[np.int64]]
    remaining: Callable[[Columns], NDArray[np.int64]]
    first: bool = False  # of each transaction's waits only that

    def ms(self, of: Columns) -> tuple[Numbers, Numbers]:
        """Within the clocks' precision neither is below 0."""
        of = of.first if self.first else of
        return np.maximum(self.age(of), 0) / MS, np.maximum(self.remaining(of), 0) / MS

    def correlation(self, of: Columns) -> Correlation | None:
        age, remaining = self.ms(of)
        return correlation(age, remaining, (of.first if self.first else of).began)


ARRIVAL = Look("at its coming to the queue", lambda c: c.began - c.started, lambda c: c.ended - c.began)
LOOKS = (
    ARRIVAL,
    Look("the same, each transaction's first wait", ARRIVAL.age, ARRIVAL.remaining, first=True),
    Look("the same, age from when it was due", lambda c: c.began - c.born, lambda c: c.ended - c.began),
    Look(
        "§5.2: age at its coming, remaining once granted",
        lambda c: c.began - c.started,
        lambda c: c.ended - c.granted,
    ),
    Look("at the grant", lambda c: c.granted - c.started, lambda c: c.ended - c.granted),
)
