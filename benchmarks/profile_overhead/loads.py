"""The loads under which a server is watched: their own account of a short window, whoever else looks at the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks import oltp_common
from benchmarks.oltp_common import closed, constant, send
from benchmarks.profile_overhead.pgbench import Pgbench
from tare.dbms.servers import RunningServer


@dataclass(frozen=True)
class Load:
    """Throughput and latency of one window."""

    transactions: int
    rate: float  # a second
    mean_ms: float  # from when a transaction was due, where a rate was asked for


class Sender(Protocol):
    scale: int

    @property
    def says(self) -> str: ...
    def prepare(self, server: RunningServer) -> None: ...
    def window(self, url: str, seconds: int, rate: float | None) -> Load: ...


class TpcB:
    """pgbench's own transaction: seven short statements, some 0.3 ms of a server's CPU time."""

    CLIENTS = 8

    def __init__(self, pgbench: Pgbench, scale: int) -> None:
        self.scale = scale
        self._pgbench = pgbench

    @property
    def says(self) -> str:
        return f"pgbench's TPC-B-like transaction at scale {self.scale}, {self.CLIENTS} clients"

    def prepare(self, server: RunningServer) -> None:
        self._pgbench.prepare(server.url, self.scale)

    def window(self, url: str, seconds: int, rate: float | None) -> Load:
        return Load(*self._pgbench.window(url, self.CLIENTS, seconds, rate))


class TpcC:
    """The paper's load, by Tare's own driver."""

    CONNECTIONS = 4

    def __init__(self, scale: int, warmup_s: float) -> None:
        self.scale = scale
        self._warmup_s = warmup_s

    @property
    def says(self) -> str:
        return f"TPC-C with {self.scale} warehouses, {self.CONNECTIONS} connections, {self._warmup_s:g} s of warm-up"

    def prepare(self, server: RunningServer) -> None:
        oltp_common.load(server.url, self.scale)

    def window(self, url: str, seconds: int, rate: float | None) -> Load:
        asked = (
            closed(self.CONNECTIONS, seconds, self._warmup_s)
            if rate is None
            else constant(rate, self.CONNECTIONS, seconds, self._warmup_s)
        )
        done = send(url, asked)
        times = done.all.response
        return Load(times.count, 1e9 * times.count / done.took_ns, times.mean / 1e6)
