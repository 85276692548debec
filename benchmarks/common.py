"""Parts that the benchmarks share: a server, a rig, and figures as they are printed."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import signal
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tare.dbms.registry import find
from tare.dbms.servers import start_postgresql
from tare.dbms.url import parse
from tare.measure.choices import CacheState, Tier
from tare.measure.machine.interrupts import read
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig

# One process, all CPU: what a figure about Tare itself should not drown in.
ONE_PROCESS = {"max_parallel_workers_per_gather": "0", "jit": "off", "autovacuum": "off"}


@dataclass(frozen=True)
class Figure:
    """A figure that was measured, against the bar that was promised."""

    name: str
    value: float
    unit: str
    bar: float
    at_most: bool = True
    spread: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def __str__(self) -> str:
        spread = f"  ({self.spread})" if self.spread else ""
        if math.isinf(self.bar):
            return f"{self.name}: {self.value:.4g} {self.unit}  no bar{spread}"
        sign = "≤" if self.at_most else "≥"
        verdict = "met" if self.met else "MISSED"
        return f"{self.name}: {self.value:.4g} {self.unit}  bar {sign} {self.bar:g} {self.unit}  {verdict}{spread}"


def quiet_and_busy() -> tuple[int, int]:
    """The CPUs that take the smallest and the largest share of device interrupts."""
    seen = read()
    ranked = sorted(os.sched_getaffinity(0), key=lambda cpu: (seen.share({cpu}), -cpu))
    return ranked[0], ranked[-1]


def arguments(description: str, *, files: Sequence[str] = (), **defaults: int | str) -> argparse.Namespace:
    """A --small flag for CI, an option for each file, and one for each default, a count or a word. From here on SIGTERM
    ends the benchmark as Ctrl-C does, with its servers and files."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--small", action="store_true", help="fewer runs: does it work, not what is it")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    for name in files:
        parser.add_argument(f"--{name}", type=Path)
    return parser.parse_args()


def report(figures: Sequence[Figure], as_json: bool) -> None:
    if as_json:
        print(json.dumps([{**figure.__dict__, "met": figure.met} for figure in figures]))
        return
    print(f"{platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}")
    for figure in figures:
        print(figure)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def command_of(*arguments: str | Path) -> list[str]:
    """Return a command line of Tare."""
    return [sys.executable, "-m", "tare", *map(str, arguments)]


def tare(*arguments: str | Path) -> str:
    """Return the output of a command of Tare. End the benchmark if the command fails."""
    done = subprocess.run(command_of(*arguments), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"tare {arguments[0]} {arguments[1]} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def connect(url: str) -> Any:
    """A connection of DB-API 2 that commits each statement."""
    if url.startswith("postgresql"):
        return psycopg.connect(url, autocommit=True)
    import mariadb

    parts = parse(url)
    given = {
        "user": parts.user,
        "unix_socket": parts.parameters.get("socket"),
        "host": parts.host,
        "port": parts.port,
        "database": parts.database,
    }
    return mariadb.connect(
        **{key: value for key, value in given.items() if value is not None}, autocommit=True
    )


@contextmanager
def postgresql(**settings: str) -> Iterator[str]:
    """A throw-away PostgreSQL for one benchmark; its URL."""
    with start_postgresql(None, settings={**ONE_PROCESS, **settings}) as server:
        yield server.url


@contextmanager
def rig(url: str, tier: Tier | None = None, *, allow_writes: bool = False) -> Iterator[Rig]:
    """An open rig with delay accounting on where that is allowed."""
    with MachineSettings() as settings:
        delay_accounting_on(settings)
        with Rig(
            lambda: find(url).connect(url, allow_writes=allow_writes, allow_restart=True), tier
        ) as opened:
            yield opened


def weigh_once(opened: Rig, query: Query, cache: CacheState = CacheState.WARM) -> QE:
    """A timed QE outside any run: the first of its query, with no time-out."""
    return time_single_qe(opened, query, index=0, query_index=0, warmup=False, cache=cache, timeout_s=None)


def rsd(values: Sequence[float]) -> float:
    """Relative standard deviation, percent."""
    return 100 * statistics.stdev(values) / statistics.fmean(values)


def quartiles(values: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"quartiles {low:.4g} {middle:.4g} {high:.4g}, n={len(values)}"
