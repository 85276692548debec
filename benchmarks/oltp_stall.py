"""A server that stands still for a while in the middle of a run, and whether each transaction's times say so."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tare.workload.oltp.samples import RECORD
from tare.workload.oltp.told import Started, Told

_S = 1e9


@dataclass(frozen=True)
class Seen:
    """Counts of a run's transactions, with the length of the server's standstill."""

    stood_s: float
    due: int  # while it stood still
    hidden: int  # of these, with a response time shorter than what was left of the standstill
    longest_s: float  # response time
    late: int  # responses longer than half the standstill
    late_services: int  # the same of service times


class Stall:
    """Stops all processes of a server once, some time after the measured part began, and lets them go on."""

    def __init__(self, leader: int, after_s: float, lasts_s: float) -> None:
        self._leader = leader
        self._after_s = after_s
        self._lasts_s = lasts_s
        self._thread: threading.Thread | None = None
        self._stopped_ns = self._continued_ns = 0

    def hear(self, _pid: int, event: Told | None) -> None:
        if isinstance(event, Started):
            at_ns = event.at_ns + int(self._after_s * _S)
            self._thread = threading.Thread(
                target=self._stall, args=(at_ns,)
            )  # no daemon: it ends what it began
            self._thread.start()

    def seen(self, samples: Path) -> Seen:
        """`samples` as the driver wrote them."""
        assert self._thread is not None, "the run never began"
        self._thread.join()
        stood_ns = self._continued_ns - self._stopped_ns
        rows = np.fromfile(samples, RECORD)
        due = rows[(rows["intended"] > self._stopped_ns) & (rows["intended"] < self._continued_ns)]
        response, service = rows["ended"] - rows["intended"], rows["ended"] - rows["started"]
        return Seen(
            stood_s=stood_ns / _S,
            due=len(due),
            hidden=int((due["ended"] < self._continued_ns).sum()),  # 0 if it was never sent
            longest_s=float(response.max()) / _S,
            late=int((response > stood_ns / 2).sum()),
            late_services=int((service > stood_ns / 2).sum()),
        )

    def _stall(self, at_ns: int) -> None:
        time.sleep(max(0.0, (at_ns - time.monotonic_ns()) / _S))
        with standing_still(self._leader):
            self._stopped_ns = time.monotonic_ns()
            time.sleep(self._lasts_s)
            self._continued_ns = time.monotonic_ns()


@contextmanager
def standing_still(leader: int) -> Iterator[None]:
    """No process of the server runs within the block; all do afterwards."""
    stopped: list[int] = []
    try:
        # The leader first, so that it starts no other; then again, for what it had just started.
        while new := [pid for pid in (leader, *_children(leader)) if pid not in stopped]:
            stopped += new
            for pid in new:
                _signal(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in reversed(stopped):
            _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _children(leader: int) -> list[int]:
    """PostgreSQL's processes are all children of its postmaster."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == leader:
                found.append(int(folder.name))
    return found
