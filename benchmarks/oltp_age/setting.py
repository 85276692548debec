"""A contended run with its lock waits, all on the driver's clock."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.oltp_age.owners import Matched, match
from benchmarks.oltp_age.waits import Waits, read
from benchmarks.oltp_runs import send
from tare.dbms.servers import RunningServer
from tare.workload.oltp.request import Closed, Poisson
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.samples import RECORD

LOG_WRITTEN_S = 0.5


@dataclass(frozen=True)
class Seen:
    name: str
    run: OltpRun
    waits: Waits  # of the measured part
    matched: Matched
    drift_ns: int  # of the log's clock against the driver's, over the run


def look(server: RunningServer, rate: int | None, connections: int, seconds: int, warmup: int) -> Seen:
    """`rate`: None, a closed loop."""
    log = server.record.log
    begin, before = log.stat().st_size, _offset_ns()
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples"
        run = send(
            server.url, arrivals=Closed() if rate is None else Poisson(), rate=rate, connections=connections,
            seconds=seconds, warmup=warmup, seed=1, samples=samples, check=False,
        )  # fmt: skip
        records = np.fromfile(samples, RECORD)
    after = _offset_ns()
    time.sleep(LOG_WRITTEN_S)
    with log.open(errors="replace") as stream:
        stream.seek(begin)
        found = read(stream)
    found.granted = [
        moved for wait in found.granted
        if (moved := replace(wait, began=wait.began - (before + after) // 2)).began >= run.outcome.started_ns
    ]  # fmt: skip
    sent = records[(records["started"] != 0) & (records["ended"] != 0)]
    name = "closed loop" if rate is None else f"Poisson arrivals, {rate}/s"
    return Seen(f"{name}, {connections} connections", run, found, match(found.granted, sent), after - before)


def shares_ms_below(seen: Seen) -> Mapping[str, float]:
    """Shares of the waits seen that took less than 2, 4, 8 ms: a hint at how many are too short to be logged."""
    took = np.array([wait.took for wait in seen.waits.granted])
    return {f"{ms} ms": float(np.mean(took < ms * 1e6)) for ms in (2, 4, 8)} if len(took) else {}


def _offset_ns() -> int:
    """CLOCK_REALTIME over CLOCK_MONOTONIC, from the closest of several looks."""
    looks = []
    for _ in range(100):
        first = time.monotonic_ns()
        real = time.time_ns()
        last = time.monotonic_ns()
        looks.append((last - first, real - (first + last) // 2))
    return min(looks)[1]
