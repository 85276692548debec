"""FCFS against VATS: one load, during which the server's order of lock waiters is switched from window to window.

A block is four windows, FCFS VATS VATS FCFS or the other way round in turn, so that a drift within it cancels. A
transaction belongs to the window in which it was due; those due within `SETTLE_S` of a switch belong to none. Each
figure is compared by its ratio within a block (FCFS over VATS: above 1, VATS is better), and the interval's unit is
the block: transactions of one window share queues and are not independent.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.oltp_common import poisson, send
from benchmarks.profile_table1.servers import put_first
from tare.dbms.mariadb.adapter import MariaDB
from tare.dbms.mariadb.session import MariaDBSession
from tare.protocol import signed_ranks
from tare.workload.oltp.samples import ENDS, RECORD
from tare.workload.oltp.told import Started, Told

FCFS, VATS = "fcfs", "vats"
SETTLE_S = 0.5
CONNECTIONS = 64
WARMUP_S = 5.0
FIGURES = ("mean", "variance", "p50", "p99")
_S = 1e9
_MS = 1e6
_TAIL_S = 1.0  # of load behind the last window


@dataclass(frozen=True)
class Window:
    block: int
    order: str
    begins_ns: int
    ends_ns: int


@dataclass(frozen=True)
class Arm:
    """Response times of a block's transactions under one order: from when one was due to its end."""

    block: int
    order: str
    transactions: int
    mean: float  # ms
    variance: float  # ms²
    p50: float
    p99: float
    waiting: int  # transactions under way when its windows began, the most


@dataclass(frozen=True)
class Ratio:
    """A figure under FCFS over the same under VATS."""

    figure: str
    centre: float
    low: float
    high: float
    better: int  # blocks in which VATS has the smaller
    blocks: int

    @property
    def is_decided(self) -> bool:
        return not self.low <= 1.0 <= self.high


@dataclass(frozen=True)
class Comparison:
    """A run with both orders."""

    rate: int  # transactions a second, requested
    started: float
    window_s: float
    load_before: float  # the machine's load average
    arms: tuple[Arm, ...]

    def of(self, order: str) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if arm.order == order)

    def ratios(self) -> Iterator[Ratio]:
        for figure in FIGURES:
            fcfs, vats = (np.log([getattr(arm, figure) for arm in self.of(order)]) for order in (FCFS, VATS))
            yield ratio_of(figure, fcfs - vats)

    def same(self) -> Iterator[Ratio]:
        """Each order against itself in the next block: the noise. These should include 1. None of a single block."""
        if len(self.of(FCFS)) < 2:
            return
        for figure in FIGURES:
            logs = [np.log([getattr(arm, figure) for arm in self.of(order)]) for order in (FCFS, VATS)]
            yield ratio_of(figure, np.concatenate([one[:-1:2] - one[1::2] for one in logs]))


def ratio_of(figure: str, logs: NDArray[np.float64]) -> Ratio:
    around = signed_ranks.interval(logs)
    low, high = (around.low, around.high) if around else (-math.inf, math.inf)
    return Ratio(
        figure, math.exp(signed_ranks.centre(logs)), math.exp(low), math.exp(high), int((logs > 0).sum()), len(logs)
    )  # fmt: skip


class Switch(threading.Thread):
    """Sets each window's order when it begins."""

    def __init__(self, session: MariaDBSession, begins_ns: int, blocks: int, window_s: float) -> None:
        super().__init__()
        self.windows: list[Window] = []
        self.error: Exception | None = None
        self._session, self._begins_ns = session, begins_ns
        self._blocks, self._window_ns = blocks, int(window_s * _S)

    def run(self) -> None:
        try:
            for number, (block, order) in enumerate(orders(self._blocks)):
                begins_ns = self._begins_ns + number * self._window_ns
                time.sleep(max(0.0, (begins_ns - time.monotonic_ns()) / _S))
                self._session.run(f"SET GLOBAL innodb_lock_schedule_algorithm = '{order}'")
                switched_ns = time.monotonic_ns()
                if self._session.value("SELECT @@GLOBAL.innodb_lock_schedule_algorithm") != order:
                    raise ValueError(f"the server did not take {order}")
                ends_ns = begins_ns + self._window_ns
                self.windows.append(Window(block, order, switched_ns + int(SETTLE_S * _S), ends_ns))
        except Exception as error:  # the main thread raises it
            self.error = error


def orders(blocks: int) -> Iterator[tuple[int, str]]:
    for block in range(blocks):
        first, other = (FCFS, VATS) if block % 2 == 0 else (VATS, FCFS)
        for order in (first, other, other, first):
            yield block, order


def compare(url: str, rate: int, blocks: int, window_s: float, warmup_s: float = WARMUP_S) -> Comparison:
    """Raises SystemExit where a switch failed."""
    switches: list[Switch] = []
    load_before = os.getloadavg()[0]
    session = MariaDB().connect(url, allow_writes=True)
    try:
        with tempfile.TemporaryDirectory(prefix="tare-table1-") as folder:
            samples = Path(folder) / "samples"

            def hear(pid: int, event: Told | None) -> None:
                if isinstance(event, Started):
                    put_first(pid)
                    switches.append(Switch(session, event.at_ns, blocks, window_s))
                    switches[0].start()

            outcome = send(
                url, poisson(rate, CONNECTIONS, 4 * blocks * window_s + _TAIL_S, warmup_s, samples), hear
            )
            switches[0].join()
            rows = np.fromfile(samples, RECORD)
    finally:
        session.close()
    if switches[0].error is not None:
        raise SystemExit(f"the order of lock waiters could not be switched: {switches[0].error}")
    return Comparison(rate, outcome.rate, window_s, load_before, tuple(arms(rows, switches[0].windows)))


def arms(rows: NDArray[np.void], windows: Sequence[Window]) -> Iterator[Arm]:
    done = rows[np.isin(rows["end"], [ENDS.index("committed"), ENDS.index("rolled_back")])]
    for block in sorted({window.block for window in windows}):
        for order in (FCFS, VATS):
            some = [window for window in windows if (window.block, window.order) == (block, order)]
            parts = [done[_within(done["intended"], window)] for window in some]
            ms = np.concatenate([(part["ended"] - part["intended"]) / _MS for part in parts])
            p50, p99 = np.quantile(ms, (0.5, 0.99))
            yield Arm(
                block, order, len(ms), float(ms.mean()), float(ms.var(ddof=1)), float(p50), float(p99),
                max(_under_way(rows, window.begins_ns) for window in some),
            )  # fmt: skip


def _within(at: NDArray[np.int64], window: Window) -> NDArray[np.bool_]:
    return (at >= window.begins_ns) & (at < window.ends_ns)


def _under_way(rows: NDArray[np.void], at_ns: int) -> int:
    return int(((rows["intended"] < at_ns) & (rows["ended"] > at_ns)).sum())


# Raw results ------------------------------------------------------------------------
_OF_RUN = ("rate", "started", "window_s", "load_before")


def write(comparison: Comparison, file: Path) -> None:
    """Every block's figures, as CSV."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*_OF_RUN, *Arm.__dataclass_fields__])
        for arm in comparison.arms:
            values = [*(getattr(comparison, name) for name in _OF_RUN), *asdict(arm).values()]
            writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in values])


def read(file: Path) -> Comparison:
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    arms_ = [
        Arm(
            block=int(row["block"]),
            order=row["order"],
            transactions=int(row["transactions"]),
            mean=float(row["mean"]),
            variance=float(row["variance"]),
            p50=float(row["p50"]),
            p99=float(row["p99"]),
            waiting=int(row["waiting"]),
        )
        for row in rows
    ]
    rate, started, window_s, load_before = (float(rows[0][name]) for name in _OF_RUN)
    return Comparison(int(rate), started, window_s, load_before, tuple(arms_))
