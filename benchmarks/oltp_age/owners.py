"""Whose wait was it? The log names a process, the driver a connection.

A connection sends one transaction at a time, so every wait of its process lies within one of its transactions. On
another connection most do, too, when all are busy; but of many waits some reach from one transaction into the next. A
process is given the connection with the fewest such misfits if these are few, the runner-up has many times more, and
no other process claims the same; else its waits are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.oltp_age.waits import Wait

SLACK_NS = 2_000_000  # the log's whole milliseconds, and a line written late
MOST_MISFITS = 0.01  # of a process's waits
FEWEST_APART = 5  # misfits of the runner-up …
TIMES_APART = 5  # … and how many times those of the best

Records = NDArray[np.void]
"""Records of the type `tare.workload.oltp.samples.RECORD`."""


@dataclass(frozen=True)
class Owned:
    """A wait within its transaction."""

    wait: Wait
    transaction: np.void


@dataclass(frozen=True)
class Matched:
    owned: tuple[Owned, ...]
    connections: Mapping[int, int]  # by process
    processes: int
    outside: int  # waits of processes with a connection that lie in none of its transactions
    unowned: int  # waits of processes without


def match(waits: Sequence[Wait], sent: Records) -> Matched:
    """`sent`: transactions with a start and an end. Both on one clock."""
    lanes = {int(lane): _in_order(sent[sent["connection"] == lane]) for lane in np.unique(sent["connection"])}
    by_process: dict[int, list[Wait]] = {}
    for wait in waits:
        by_process.setdefault(wait.pid, []).append(wait)
    claims = {pid: _claim(some, lanes) for pid, some in by_process.items()}
    claimed = Counter(lane for lane in claims.values() if lane is not None)
    connections = {pid: lane for pid, lane in claims.items() if lane is not None and claimed[lane] == 1}
    owned: list[Owned] = []
    for pid, lane in connections.items():
        some, transactions = by_process[pid], lanes[lane]
        owned += [
            Owned(wait, transactions[at])
            for wait, at in zip(some, places(some, transactions), strict=True)
            if at >= 0
        ]
    theirs = sum(len(by_process[pid]) for pid in connections)
    return Matched(tuple(owned), connections, len(by_process), theirs - len(owned), len(waits) - theirs)


def places(waits: Sequence[Wait], transactions: Records) -> NDArray[np.int64]:
    """Index of the transaction that each wait lies in; -1: none. `transactions` follow each other."""
    began = np.array([wait.began for wait in waits])
    granted = np.array([wait.granted for wait in waits])
    # by its middle, which is in no neighbour if the wait is longer than the slack
    at = np.searchsorted(transactions["started"], (began + granted) // 2, side="right") - 1
    held = transactions[np.maximum(at, 0)]
    inside = (at >= 0) & (held["started"] - SLACK_NS <= began) & (granted <= held["ended"] + SLACK_NS)
    return np.where(inside, at, -1)


def _claim(waits: Sequence[Wait], lanes: Mapping[int, Records]) -> int | None:
    misfits = sorted((int(np.sum(places(waits, lane) < 0)), number) for number, lane in lanes.items())
    (best, number), (next_best, _) = misfits[0], (*misfits, (len(waits), -1))[1]
    few = best <= MOST_MISFITS * len(waits)
    return number if few and next_best >= max(FEWEST_APART, TIMES_APART * best) else None


def _in_order(transactions: Records) -> Records:
    return np.sort(transactions, order="started")
