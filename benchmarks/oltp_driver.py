"""The OLTP driver on PostgreSQL: what a TPC-C transaction costs it, how well it keeps a schedule, and whether a server
that stands still shows in the response times. Peers beside it, in turn: pgbench, and go-tpc if `--go-tpc PATH` names
it.

`--minutes 10` only holds the rate for so long and looks whether the driver's memory grows.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from benchmarks.common import Figure, arguments, free_port, report
from benchmarks.oltp_common import closed, constant, load, send
from benchmarks.oltp_peers import PGBENCH_STATEMENTS, Cost, GoTpc, Lag, Pgbench, memory_kb
from benchmarks.oltp_stall import Seen, Stall
from tare.dbms.servers import start_postgresql
from tare.report.oltp.reasons import reason
from tare.workload.oltp.request import Run
from tare.workload.oltp.told import Outcome, Second, Told

CPU_MS, MEMORY_MB, GROWTH_MB = 0.3, 40.0, 1.0
RATE_OFF, LAG_P50_MS, LAG_P99_MS = 0.05, 0.1, 5.0
CLOSED_CONNECTIONS, OPEN_CONNECTIONS = 8, 32
MEMORY_EVERY_S = 10


@dataclass(frozen=True)
class Size:
    warehouses: int
    seconds: int
    warmup_s: float
    rate: float
    stall_s: float

    @property
    def open(self) -> Run:
        return constant(self.rate, OPEN_CONNECTIONS, self.seconds, self.warmup_s)

    @property
    def closed(self) -> Run:
        return closed(CLOSED_CONNECTIONS, self.seconds, self.warmup_s)


SMALL = Size(warehouses=1, seconds=2, warmup_s=0.2, rate=100.0, stall_s=0.5)


@dataclass
class Memory:
    """The driver's resident memory in the measured part, every MEMORY_EVERY_S."""

    mb: list[float] = field(default_factory=list)
    peak_mb: float = 0.0  # also while it makes up its result

    def hear(self, pid: int, event: Told | None) -> None:
        if not isinstance(event, Second):
            return
        self.peak_mb = max(self.peak_mb, memory_kb(pid, "VmHWM") * 1024 / 1e6)
        if event.number >= 0 and event.number % MEMORY_EVERY_S == 0 and event.counts.offered:
            self.mb.append(memory_kb(pid, "VmRSS") * 1024 / 1e6)


def main() -> None:
    asked = arguments(__doc__ or "", warehouses=4, seconds=60, rate=500, rounds=1, minutes=0, go_tpc="")
    size = SMALL if asked.small else Size(asked.warehouses, asked.seconds, 5.0, asked.rate, 2.0)
    # go-tpc knows no sockets; the others then go the way that it goes
    with start_postgresql(version="18", port=free_port() if asked.go_tpc else None) as server:
        load(server.url, size.warehouses)
        if asked.minutes:
            report(_flat(server.url, size, 60 * asked.minutes), asked.json)
            return
        pgbench = Pgbench(server.record.binaries, server.url, size.warehouses)
        figures = _beside(server.url, size, asked, pgbench, GoTpc(asked.go_tpc, server.url, size.warehouses))
        report([*figures, *_stalled(server.url, server.pid, size)], asked.json)


def _beside(url: str, size: Size, asked: argparse.Namespace, pgbench: Pgbench, go_tpc: GoTpc) -> list[Figure]:
    there = [peer for peer in (pgbench, go_tpc) if peer.absent is None]
    for peer in (pgbench, go_tpc):
        if peer.absent is not None:
            print(f"A PEER IS MISSING, nothing measured beside it: {peer.absent}", flush=True)
    for peer in there:
        peer.prepare()
    unpaced: list[Outcome] = []
    paced: list[Outcome] = []
    costs: dict[str, list[Cost]] = {type(peer).__name__: [] for peer in there}
    lags: list[Lag] = []
    for _ in range(1 if asked.small else asked.rounds):
        memory, unpaced_memory = Memory(), Memory()  # growth is the last round's
        unpaced.append(send(url, size.closed, unpaced_memory.hear))
        for peer in there:
            costs[type(peer).__name__].append(peer.closed(CLOSED_CONNECTIONS, size.seconds))
        paced.append(send(url, size.open, memory.hear))
        if pgbench in there:
            lags.append(pgbench.paced(size.rate, OPEN_CONNECTIONS, size.seconds))
    return [
        *_costs(unpaced, unpaced_memory, f"{CLOSED_CONNECTIONS} connections, closed loop"),
        *_costs(paced, memory, f"{OPEN_CONNECTIONS} connections, {size.rate:g}/s"),
        *_grown(memory, size.seconds),
        *(figure for name, some in costs.items() for figure in _peer(name, some)),
        *_punctual(paced, size.rate),
        *_pgbench_lags(lags),
    ]


def _costs(runs: list[Outcome], memory: Memory, how: str) -> list[Figure]:
    finished = [run.all.counts.finished for run in runs]
    cpu_ms = [run.own.cpu_ns / count / 1e6 for run, count in zip(runs, finished, strict=True)]
    spread = f"{sum(finished):,} transactions, {statistics.fmean(run.rate for run in runs):.0f}/s"
    peak = max(memory.peak_mb, *(run.own.peak_rss_bytes / 1e6 for run in runs))
    return [
        Figure(f"CPU of a TPC-C transaction, {how}", statistics.median(cpu_ms), "ms", CPU_MS, spread=spread),
        Figure(f"peak memory, {how}", peak, "MB", MEMORY_MB),
    ]


def _peer(name: str, costs: list[Cost]) -> list[Figure]:
    cpu_ms = statistics.median(one.cpu_ms for one in costs)
    count = sum(one.transactions for one in costs)
    said = f"{count:,} transactions"
    if name == Pgbench.__name__:
        each_us = 1e3 * cpu_ms / PGBENCH_STATEMENTS
        said += f" of TPC-B's kind; {each_us:.3g} µs for each of {PGBENCH_STATEMENTS} statements"
    return [
        Figure(f"{name} beside it: CPU of a transaction", cpu_ms, "ms", inf, spread=said),
        Figure(f"{name} beside it: peak memory", max(one.peak_mb for one in costs), "MB", inf),
    ]


def _punctual(runs: list[Outcome], rate: float) -> list[Figure]:
    lags_ms = [[(lag or 0) / 1e6 for lag in run.all.lag.quantiles((0.5, 0.99))] for run in runs]
    halves, most = ([one[place] for one in lags_ms] for place in (0, 1))
    off = max(100 * abs(run.rate / rate - 1) for run in runs)
    return [
        Figure(f"rate, off {rate:g}/s", off, "%", RATE_OFF, spread=_validity(runs)),
        Figure("start lag, half of the transactions", statistics.median(halves), "ms", LAG_P50_MS),
        Figure(
            "start lag, 99 of 100",
            statistics.median(most),
            "ms",
            LAG_P99_MS,
            spread=f"longest {max(run.all.lag.max for run in runs) / 1e6:.3g} ms",
        ),
    ]


def _pgbench_lags(lags: list[Lag]) -> list[Figure]:
    if not lags:
        return []
    p50, p99 = (statistics.median(lag) for lag in zip(*((one.p50, one.p99) for one in lags), strict=True))
    rate = statistics.fmean(one.rate for one in lags)
    said = f"Poisson, {rate:.1f}/s, {OPEN_CONNECTIONS} connections, one thread"
    return [
        Figure("Pgbench beside it: start lag, half of the transactions", p50, "ms", inf, spread=said),
        Figure("Pgbench beside it: start lag, 99 of 100", p99, "ms", inf),
    ]


def _stalled(url: str, leader: int, size: Size) -> list[Figure]:
    stall = Stall(leader, size.seconds / 3, size.stall_s)
    with tempfile.TemporaryDirectory(prefix="tare-stall-") as folder:
        samples = Path(folder) / "samples"
        asked = constant(size.rate, OPEN_CONNECTIONS, size.seconds, size.warmup_s, samples)
        run = send(url, asked, stall.hear)
        seen = stall.seen(samples)
    why_not = Figure("reasons why that run is not valid", len(run.invalid), "", 0, spread=_validity([run]))
    return [*_shown(seen, size.rate), why_not]


def _shown(seen: Seen, rate: float) -> list[Figure]:
    what = f"server stopped for {seen.stood_s:.3f} s at {rate:g}/s"
    return [
        Figure(
            f"{what}: longest response, over that less the time to the next arrival",
            seen.longest_s - (seen.stood_s - 1 / rate),
            "s",
            0.0,
            at_most=False,
            spread=f"{seen.longest_s:.3f} s",
        ),
        Figure(
            f"{what}: transactions due in it, missing",
            abs(seen.due - seen.stood_s * rate),
            "",
            1.0,
            spread=f"{seen.due} there",
        ),
        Figure(f"{what}: of these, with a response time that hides it", seen.hidden, "", 0.0),
        Figure(
            f"{what}: service times above half of it",
            seen.late_services,
            "",
            OPEN_CONNECTIONS,
            spread=f"response times above half of it: {seen.late}",
        ),
    ]


def _flat(url: str, size: Size, seconds: int) -> list[Figure]:
    memory = Memory()
    run = send(url, constant(size.rate, OPEN_CONNECTIONS, seconds, size.warmup_s), memory.hear)
    return [
        *_costs([run], memory, f"{OPEN_CONNECTIONS} connections, {size.rate:g}/s"),
        *_grown(memory, seconds),
        *_punctual([run], size.rate),
    ]


def _grown(memory: Memory, seconds: int) -> list[Figure]:
    """Connections grow their buffers to the longest answer that each has had: most do so in the first fifth. What
    grows after it would go on growing."""
    settled = len(memory.mb) // 5
    looks = f"every {MEMORY_EVERY_S} s: {' '.join(f'{mb:.1f}' for mb in memory.mb)}"
    first, last = memory.mb[settled], memory.mb[-1]
    return [
        Figure(f"memory, growth over {seconds} s", last - memory.mb[0], "MB", math.inf, spread=looks),
        Figure("memory, growth after the first fifth of it", last - first, "MB", GROWTH_MB),
    ]


def _validity(runs: list[Outcome]) -> str:
    found = dict.fromkeys(reason(fact) for run in runs for fact in run.invalid)
    return "not valid: " + "; ".join(found) if found else "valid"


if __name__ == "__main__":
    main()
