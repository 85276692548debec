"""Price of `tare os`: CPU time of a read from the page cache, in the traced process and in a bystander, and of TPC-H's
queries 1, 5, 6 and 16 on PostgreSQL, with and without the trace in turns.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from math import inf
from pathlib import Path

from benchmarks.common import ONE_PROCESS, Figure, arguments, report
from tare.dbms.registry import find
from tare.dbms.servers import start_postgresql
from tare.os.levels import Level
from tare.os.nodes import Node, node_of_process
from tare.os.session import Query, run
from tare.os.tracing import Tracing
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.workload.tpch.queries import query
from tare.workload.tpch.tables import ensure_loaded

QUERIES = (1, 5, 6, 16)
BARS = {Level.LIGHT: 1.03, Level.FULL: 1.10}
PAGE = 8192


def main() -> None:
    asked = arguments(__doc__ or "", calls=100_000, rounds=12, scale=100)
    calls, rounds = (2000, 2) if asked.small else (asked.calls, asked.rounds)
    scale = 0.01 if asked.small else asked.scale / 1000
    report([*_reads(calls, rounds), *_queries(scale, rounds)], asked.json)


# Reads ---------------------------------------------------------------------------------------
def _reads(calls: int, rounds: int) -> list[Figure]:
    """CPU time of a read of 8 KiB from the page cache, in µs, by what is traced meanwhile."""
    with tempfile.TemporaryDirectory() as folder, _sleeper() as other:
        file = Path(folder) / "data"
        file.write_bytes(os.urandom(PAGE))
        own = Node("own", (os.getpid(),))
        elsewhere = node_of_process("elsewhere", other.pid)
        arms: dict[str, Callable[[], AbstractContextManager[object]]] = {"off": nullcontext}
        for level in BARS:
            arms[f"{level}, traced"] = partial(Tracing, [own], level)
            arms[f"{level}, a bystander"] = partial(Tracing, [elsewhere], level)
        spent: dict[str, list[float]] = {name: [] for name in arms}
        chance = random.Random(1)
        for _ in range(rounds):
            for name in chance.sample(list(arms), len(arms)):
                with arms[name]():
                    spent[name].append(_cpu_of_reads(file, calls) / calls * 1e6)
    return [_read_figure(name, spent["off"], spent[name]) for name in arms if name != "off"]


def _read_figure(name: str, off: Sequence[float], on: Sequence[float]) -> Figure:
    found = ratio_over_blocks(off, on)
    assert found is not None, "two rounds or more"
    more = statistics.median(on) - statistics.median(off)
    spread = (
        f"95% interval {found.low:.3f} to {found.high:.3f} over {found.blocks} rounds; {more:+.2f} µs a call"
    )
    return Figure(f"CPU of a read from the page cache: {name} over off", found.ratio, "", inf, spread=spread)


def _cpu_of_reads(file: Path, calls: int) -> float:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        before = resource.getrusage(resource.RUSAGE_SELF)
        for _ in range(calls):
            os.pread(descriptor, PAGE, 0)
        after = resource.getrusage(resource.RUSAGE_SELF)
    finally:
        os.close(descriptor)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


# Queries -------------------------------------------------------------------------------------
def _queries(scale: float, rounds: int) -> list[Figure]:
    figures = []
    with start_postgresql(version="18", settings=ONE_PROCESS) as server:
        loading = find(server.url).connect(server.url, allow_writes=True)
        ensure_loaded(loading, scale, lambda text: None)
        loading.close()
        session = find(server.url).connect(server.url)
        leader = session.leader()
        assert leader is not None
        node = node_of_process("server", session.worker_parents(leader)[0])
        queries = [Query(f"Q{number}", query(number, "postgresql", scale)) for number in QUERIES]
        for level, bar in BARS.items():
            trace = run([node], level, session, queries, runs=rounds, warmup=2, timeout_s=None, seed=1)
            for stage in trace.stages:
                wall, cpu = stage.overhead
                assert wall is not None
                assert cpu is not None
                spread = (
                    f"95% interval {cpu.low:.3f} to {cpu.high:.3f} over {cpu.blocks} pairs; wall {wall.ratio:.3f} "
                    f"[{wall.low:.3f}, {wall.high:.3f}]"
                )
                figures.append(
                    Figure(f"CPU of {stage.name}, {level} over off", cpu.ratio, "", bar, spread=spread)
                )
        session.close()
    return figures


if __name__ == "__main__":
    main()
