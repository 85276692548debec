"""Windows of a stage, and the figures of the transactions that were due in each.

A transaction belongs to the window of its intended start, also if it ends in a later one: an arm that lets work pile
up pays for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.workload.oltp.samples import ENDS, RECORD

MS = 1e6  # ns
_FINISHED = [ENDS.index(end) for end in ("committed", "rolled_back")]


@dataclass(frozen=True, slots=True)
class Window:
    """Stretch of a stage under one arm. Instants are ns of the driver's clock; `from_ns`: after the settle time."""

    block: int
    arm: int
    begins_ns: int
    from_ns: int
    to_ns: int
    switch_ms: float  # time that the change took


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a window. Times are ms, from the intended start; None: too few transactions ended."""

    offered: int
    finished: int
    backlog: int  # due earlier and not started when the window's figures begin
    throughput: float  # transactions that ended in the window, a second
    mean: float | None = None
    variance: float | None = None  # ms²
    sd: float | None = None
    p50: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    norm: float | None = None  # L_p, as a mean: (Σ x^p / n)^(1/p)


FEWEST = 20
"""Transactions from which a window has figures."""


def read(path: str) -> NDArray[np.void]:
    """Records of the driver's file of samples; a torn last record is left out."""
    data = np.fromfile(path, dtype=np.uint8)
    whole = len(data) // RECORD.itemsize * RECORD.itemsize
    return data[:whole].view(RECORD)


def figures(records: NDArray[np.void], windows: Sequence[Window], p: float) -> list[Figures]:
    """Figures of each window. `p`: exponent of the L_p norm."""
    return [_figures(records, window, p) for window in windows]


def finished_times(records: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Intended start, ns, and response time, ms, of each transaction that finished."""
    finished = records[np.isin(records["end"], _FINISHED)]
    intended = finished["intended"].astype(np.int64)
    return intended, (finished["ended"].astype(np.int64) - intended) / MS


def _figures(records: NDArray[np.void], window: Window, p: float) -> Figures:
    intended, started, ended = (records[name].astype(np.int64) for name in ("intended", "started", "ended"))
    is_finished = np.isin(records["end"], _FINISHED)
    is_due = (intended >= window.from_ns) & (intended < window.to_ns)
    waits = (intended < window.from_ns) & ((started == 0) | (started > window.from_ns))
    ends_here = is_finished & (ended >= window.from_ns) & (ended < window.to_ns)
    times = (ended - intended)[is_due & is_finished] / MS
    length_s = (window.to_ns - window.from_ns) / 1e9
    counts = (int(is_due.sum()), len(times), int(waits.sum()), float(ends_here.sum() / length_s))
    if len(times) < FEWEST:
        return Figures(*counts)
    variance = float(times.var(ddof=1))
    p50, p99, p99_9 = (float(value) for value in np.quantile(times, (0.5, 0.99, 0.999)))
    return Figures(
        *counts,
        mean=float(times.mean()),
        variance=variance,
        sd=variance**0.5,
        p50=p50,
        p99=p99,
        p99_9=p99_9,
        norm=float((times**p).mean() ** (1 / p)),
    )
