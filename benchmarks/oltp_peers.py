"""Other load generators on the same server: what a transaction costs them, and how late they start."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

import psycopg

from benchmarks.profile_overhead.pgbench import number

PGBENCH_STATEMENTS = 7  # of its TPC-B-like transaction, BEGIN and END among them
_GO_TPC_DATABASE = "go_tpc"
_LOOK_S = 0.1


@dataclass(frozen=True)
class Cost:
    """Cost of a peer's whole process."""

    transactions: int
    cpu_ms: float  # a transaction
    peak_mb: float


@dataclass(frozen=True)
class Lag:
    """Between the intended and the real start, ms."""

    rate: float
    p50: float
    p99: float


class Pgbench:
    def __init__(self, binaries: Path, url: str, scale: int) -> None:
        beside = binaries / "pgbench"
        self._program = beside if beside.exists() else Path(shutil.which("pgbench") or beside)
        self.absent = None if self._program.exists() else "pgbench is not installed"
        self._url = url
        self._scale = scale

    def prepare(self) -> None:
        _run([self._program, "--initialize", "--quiet", f"--scale={self._scale}", self._url])

    def closed(self, connections: int, seconds: int) -> Cost:
        told, cpu_s, peak_mb = self._send(connections, seconds)
        count = number(r"transactions actually processed: (\d+)", told)
        return Cost(int(count), 1e3 * cpu_s / count, peak_mb)

    def paced(self, rate: float, connections: int, seconds: int) -> Lag:
        """Its arrivals are Poisson's."""
        with tempfile.TemporaryDirectory(prefix="tare-pgbench-") as folder:
            options = (f"--rate={rate:g}", "--log", f"--log-prefix={folder}/log")
            told, _, _ = self._send(connections, seconds, *options)
            lines = [line for log in Path(folder).iterdir() for line in log.read_text().splitlines()]
        lags_ms = [int(line.split()[6]) / 1e3 for line in lines]
        percentiles = quantiles(lags_ms, n=100)
        return Lag(number(r"tps = ([\d.]+)", told), percentiles[49], percentiles[98])

    def _send(self, connections: int, seconds: int, *options: str) -> tuple[str, float, float]:
        asked = (f"--client={connections}", f"--time={seconds}", *options)
        return _run([self._program, "--no-vacuum", *asked, self._url])


class GoTpc:
    """TPC-C by go-tpc, in a database of its own; it needs a server that listens on 127.0.0.1."""

    def __init__(self, program: str, url: str, warehouses: int) -> None:
        self.absent = (
            "go-tpc was not named (--go-tpc PATH)"
            if not program
            else None
            if shutil.which(program)
            else f"{program} is no program"
        )
        self._program = program
        self._url = url
        self._warehouses = warehouses

    def prepare(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {_GO_TPC_DATABASE}")
        _run(self._command("prepare", "--no-check", "-T", str(self._warehouses)))

    def closed(self, connections: int, seconds: int) -> Cost:
        command = self._command("run", "-T", str(connections), "--time", f"{seconds}s", "--ignore-error")
        told, cpu_s, peak_mb = _run(command)
        counts = re.findall(r"^\[Summary\] (\w+) .*?Count: (\d+)", told, re.MULTILINE)
        count = sum(int(number) for name, number in counts if not name.endswith("_ERR"))
        if not count:
            raise SystemExit(f"go-tpc told no transactions:\n{told[-2000:]}")
        return Cost(count, 1e3 * cpu_s / count, peak_mb)

    def _command(self, action: str, *options: str) -> list[str]:
        at = urlsplit(self._url)
        where = ["-d", "postgres", "-H", "127.0.0.1", "-P", str(at.port), "-U", at.username or "postgres"]
        where += ["-D", _GO_TPC_DATABASE, "--conn-params", "sslmode=disable"]
        return [self._program, "tpcc", *where, "--warehouses", str(self._warehouses), action, *options]


def _run(command: Sequence[str | Path]) -> tuple[str, float, float]:
    """Return a command's output, CPU seconds and peak memory in MB. End the benchmark if the command fails."""
    before = _children_cpu_s()
    peak_kb = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while True:
            # Not getrusage's: that begins with what we had in memory when we started it.
            peak_kb = max(peak_kb, memory_kb(process.pid, "VmHWM"))
            with suppress(subprocess.TimeoutExpired):
                told, _ = process.communicate(timeout=_LOOK_S)
                break
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}\n{told[-2000:]}")
    return told, _children_cpu_s() - before, peak_kb * 1024 / 1e6


def memory_kb(pid: int, line: str) -> int:
    """A line of /proc/PID/status: VmRSS now, VmHWM at most; 0 of a process that has ended."""
    with suppress(OSError):
        found = re.search(rf"^{line}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        return int(found.group(1)) if found else 0
    return 0


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
