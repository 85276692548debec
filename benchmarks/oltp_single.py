"""The OLTP driver on PostgreSQL beside other clients, taking turns: reads of one record with `--autocommit` (YCSB's
core c) beside `pgbench -M prepared` and, where it is installed, sysbench; and TPC-C over TLS beside TPC-C without.

Turns are short, and each round has all clients in random order. A ratio is that of a round, so what disturbs the
machine for minutes disturbs both; its interval is over rounds.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from urllib.parse import quote

import psycopg

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import closed, load, send
from benchmarks.oltp_driver import CLOSED_CONNECTIONS, free_port
from benchmarks.oltp_peers import Pgbench, Sysbench
from tare.dbms.servers import RunningServer, start_postgresql
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.workload.oltp.events import Outcome
from tare.workload.oltp.request import Run

CONNECTIONS = 4
TLS_VERSION = "15"
"""PostgreSQL of the distribution: the programs of the wheels know no TLS."""

RATE_RATIO, STATEMENT_US = 0.95, 12.0
TPCC_MS, TLS_RATIO = 0.27, 1.3


@dataclass(frozen=True)
class Size:
    records: int  # thousands
    warehouses: int
    seconds: int
    warmup_s: float

    def reads(self) -> Run:
        run = closed(CONNECTIONS, self.seconds, self.warmup_s)
        return run.model_copy(update={"autocommit": True})

    def tpcc(self) -> Run:
        return closed(CLOSED_CONNECTIONS, self.seconds, self.warmup_s)


SMALL = Size(records=1, warehouses=1, seconds=2, warmup_s=0.2)


def main() -> None:
    asked = arguments(__doc__ or "", records=100, warehouses=4, seconds=5, rounds=20)
    size = SMALL if asked.small else Size(asked.records, asked.warehouses, asked.seconds, 1.0)
    rounds = 2 if asked.small else asked.rounds
    with start_postgresql(version="18", port=free_port()) as server:
        figures = _reads(server, size, rounds)
    with start_postgresql(version=TLS_VERSION, port=free_port()) as server:
        encrypt(server)
        report([*figures, *_encrypted(server, size, rounds)], asked.json)


# Reads of one record --------------------------------------------------------------------
def _reads(server: RunningServer, size: Size, rounds: int) -> list[Figure]:
    url = through_socket(server)
    load(url, size.records, "ycsb", {"core": "c"})
    peers: dict[str, Pgbench | Sysbench] = {
        "pgbench -M prepared": Pgbench(server.record.binaries, url, 1),
        "sysbench": Sysbench(server.record.socket_directory, server.record.port or 5432, 1000 * size.records),
    }
    for name, peer in list(peers.items()):
        if peer.absent is not None:
            print(f"A PEER IS MISSING, nothing measured beside it: {peer.absent}", flush=True)
            del peers[name]
    ours: list[Outcome] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    with tempfile.TemporaryDirectory(prefix="tare-pgbench-") as folder:
        script = Path(folder) / "read.sql"
        highest = 1000 * size.records - 1
        script.write_text(f"\\set key random(0, {highest})\nSELECT * FROM usertable WHERE ycsb_key = :key;\n")
        for turns in _rounds(rounds, ["tare", *peers]):
            for name in turns:
                if name == "tare":
                    ours.append(send(url, size.reads(), workload="ycsb", options={"core": "c"}))
                else:
                    theirs[name].append(peers[name].reads(script, CONNECTIONS, size.seconds))
    return _read_figures(ours, theirs)


def _rounds(rounds: int, clients: Sequence[str]) -> Iterator[list[str]]:
    chance = random.Random(1)
    for _ in range(rounds):
        yield chance.sample(clients, len(clients))


def _read_figures(ours: list[Outcome], theirs: dict[str, list[float]]) -> list[Figure]:
    rates = [run.rate for run in ours]
    each_us = statistics.median(run.own.cpu_ns / run.all.counts.finished / 1e3 for run in ours)
    trips = statistics.median((run.round_trips or 0) / run.all.counts.started for run in ours)
    medians = {name: statistics.median(some) for name, some in theirs.items()}
    shown = ", ".join(
        f"{name} {rate:,.0f}/s" for name, rate in {"tare": statistics.median(rates), **medians}.items()
    )
    what = f"YCSB reads with --autocommit, {CONNECTIONS} connections"
    best = max(medians, key=lambda name: medians[name], default=None)
    ratio, interval = _ratio(theirs[best], rates) if best else (inf, "no peer")
    return [
        Figure(
            f"{what}: rate over the best peer's",
            ratio,
            "",
            RATE_RATIO,
            at_most=False,
            spread=f"{interval}; medians {shown}",
        ),
        Figure(f"{what}: CPU of a statement", each_us, "µs", STATEMENT_US, spread=f"{trips:.3g} round trips"),
    ]


def _ratio(under: Sequence[float], over: Sequence[float]) -> tuple[float, str]:
    """Geometric mean of the rounds' ratios, and its 95% interval in words."""
    found = ratio_over_blocks(under, over)
    assert found is not None, "two rounds or more"
    return found.ratio, f"95% interval {found.low:.3f} to {found.high:.3f} over {found.blocks} rounds"


# TPC-C over TLS ---------------------------------------------------------------------------
def _encrypted(server: RunningServer, size: Size, rounds: int) -> list[Figure]:
    over_tcp = server.url.partition("?")[0]
    ways = {
        "a socket": through_socket(server),
        "TCP": f"{over_tcp}?sslmode=disable",
        "TLS": f"{over_tcp}?sslmode=require",
    }
    load(ways["a socket"], size.warehouses)
    cpu_ms: dict[str, list[float]] = {way: [] for way in ways}
    for turns in _rounds(rounds, list(ways)):
        for way in turns:
            run = send(ways[way], size.tpcc())
            cpu_ms[way].append(run.own.cpu_ns / run.all.counts.finished / 1e6)
    medians = {way: statistics.median(some) for way, some in cpu_ms.items()}
    what = f"CPU of a TPC-C transaction, {CLOSED_CONNECTIONS} connections"
    tls, interval = _ratio(cpu_ms["TCP"], cpu_ms["TLS"])
    bars = {"a socket": TPCC_MS, "TCP": inf, "TLS": inf}
    return [
        *(Figure(f"{what} over {way}", medians[way], "ms", bar) for way, bar in bars.items()),
        Figure(f"{what}: over TLS by over TCP", tls, "", TLS_RATIO, spread=interval),
    ]


def through_socket(server: RunningServer) -> str:
    at = f"host={quote(str(server.record.socket_directory), safe='')}&port={server.record.port}"
    return f"postgresql://postgres@/postgres?{at}"


def encrypt(server: RunningServer) -> None:
    """The server offers TLS from now on, with a certificate that it signs itself."""
    if shutil.which("openssl") is None:
        raise SystemExit("openssl makes the server's certificate: install it")
    data = server.record.data_directory
    certificate, key = data / "server.crt", data / "server.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    owner = data.stat()
    for file in (certificate, key):
        os.chown(file, owner.st_uid, owner.st_gid)
        file.chmod(0o600)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET ssl = on")
        connection.execute("SELECT pg_reload_conf()")


if __name__ == "__main__":
    main()
