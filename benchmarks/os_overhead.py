"""Costs of observing the operating system: of a system call, for the observed and for a bystander, and of a query.

The worst case is a program that does nothing but read 8 KiB from the page cache. Levels take turns with no observation
at all, in random order, and CPU time is compared within each turn. Queries are those of TPC-H that the bars name, each
in pairs of a traced and an untraced execution.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common import Figure, arguments, postgresql, report
from tare.dbms.registry import find
from tare.measure.query import Query
from tare.os.instrument import open_instrument
from tare.os.level import Level
from tare.os.roles import Roles
from tare.os.run import RunRequest, run
from tare.os.subject import of_processes
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.workload.tpch.queries import query
from tare.workload.tpch.tables import ensure_loaded

LEVELS = (Level.LIGHT, Level.FULL, Level.MESSAGES)
QUERIES = (1, 5, 6, 16)
CALL_BAR_NS = 500.0
BYSTANDER_BAR_NS = 300.0
QUERY_BARS = {Level.LIGHT: 1.03, Level.FULL: 1.10}
READER = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
for line in sys.stdin:
    began = time.process_time_ns()
    for _ in range(int(line)):
        os.pread(file, 8192, 0)
    print(time.process_time_ns() - began, flush=True)
"""


class Reader:
    """A process that reads 8 KiB from the page cache, as often as it is told."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", READER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid

    def read(self, calls: int) -> float:
        """Return the CPU time of a call, ns."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline()) / calls

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def two_readers() -> Iterator[tuple[Reader, Reader]]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(8192))
        file.flush()
        readers = Reader(Path(file.name)), Reader(Path(file.name))
        try:
            yield readers
        finally:
            for reader in readers:
                reader.close()


def cost_of_a_call(turns: int, calls: int, draw: random.Random) -> Iterator[Figure]:
    """CPU time that each level adds to a call, for the observed process and for one beside it."""
    added: dict[tuple[Level, bool], list[float]] = defaultdict(list)
    with two_readers() as (observed, bystander):
        subject = of_processes([observed.pid])
        for _ in range(turns):
            bare = {reader: reader.read(calls) for reader in (observed, bystander)}
            for level in draw.sample(LEVELS, len(LEVELS)):
                instrument = open_instrument(subject, Roles.of(None), level)
                try:
                    for reader, is_bystander in ((observed, False), (bystander, True)):
                        added[level, is_bystander].append(reader.read(calls) - bare[reader])
                finally:
                    instrument.stop()
    for (level, is_bystander), values in added.items():
        whose = "a bystander's call" if is_bystander else "a call"
        bar = math.inf
        if level is Level.FULL:
            bar = BYSTANDER_BAR_NS if is_bystander else CALL_BAR_NS
        low, middle, high = _spread(values)
        yield Figure(
            f"CPU time that level {level} adds to {whose}",
            middle,
            "ns",
            bar,
            spread=f"quartiles {low:.0f} to {high:.0f}, n={len(values)}",
        )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[last // 4], ordered[last // 2], ordered[last - last // 4]


def cost_of_queries(pairs: int, scale: float, seed: int) -> Iterator[Figure]:
    """Wall time of traced over untraced executions."""
    with postgresql() as url:
        session = find(url).connect(url, allow_writes=True)
        ensure_loaded(session, scale, lambda what: None)
        session.close()
        queries = [Query(f"Q{number}", query(number, "postgresql", scale)) for number in QUERIES]
        for level, bar in QUERY_BARS.items():
            request = RunRequest(runs=pairs, level=level, seed=seed)
            observation = run(lambda: find(url).connect(url), queries, request, lambda event: None)
            for one in queries:
                blocks = [
                    {window.is_traced: window.wall_ns for window in observation.windows[first : first + 2]}
                    for first in range(0, len(observation.windows), 2)
                    if observation.windows[first].name == one.name
                ]
                estimate = ratio_over_blocks(
                    [block[False] for block in blocks], [block[True] for block in blocks]
                )
                if estimate is None:
                    raise SystemExit(f"{one.name}: the pairs give no ratio")
                yield Figure(
                    f"wall time at level {level} over none, {one.name}",
                    estimate.ratio,
                    "",
                    bar,
                    spread=f"95% interval {estimate.low:.3f} to {estimate.high:.3f}, {len(blocks)} pairs",
                )


def main() -> None:
    given = arguments(__doc__ or "", turns=30, calls=100_000, pairs=40, seed=1)
    turns, calls, pairs = (3, 20_000, 2) if given.small else (given.turns, given.calls, given.pairs)
    if os.geteuid() != 0:
        raise SystemExit("root is needed: levels other than proc load programs into the kernel")
    figures = [
        *cost_of_a_call(turns, calls, random.Random(given.seed)),
        *cost_of_queries(pairs, 0.01 if given.small else 0.05, given.seed),
    ]
    report(figures, given.json)


if __name__ == "__main__":
    main()
