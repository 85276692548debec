"""Errors of `tare compare` on this machine, as it is: one query under two names, and the same query with 5% more rows.

python -m benchmarks.aa_real [--comparisons 200] [--blocks session|restart|run] [--load PROCESSES]

Each comparison is the whole command, in the blocks named. `--load` adds processes that keep a CPU busy each.
`benchmarks/aa.py` does the same with simulated noise of known kinds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.aa import FALSE_POSITIVES, SLOWDOWN
from benchmarks.common import Figure, arguments, postgresql, report, tare
from tare.measure.choices import Blocks
from tare.protocol.stop import MIN_RUNS
from tare.report.comparison import TOTAL_CPU

ROWS = 200  # times 1000: some 7 ms, all CPU and hardly any memory
FOUND = 0.95


@dataclass
class Counted:
    """Comparisons that called the two different, those whose 95% interval missed the true ratio, and all."""

    different: int = 0
    missed: int = 0
    made: int = 0

    def add(self, url: str, rows: int, blocks: str) -> None:
        found = json.loads(
            tare(
                "compare", query("a", ROWS), query("b", rows), "--db", url, "--blocks", blocks, "--json", "-"
            )
        )["comparison"]
        low, high = found["measures"][TOTAL_CPU]["ratio"]["ci95"]
        self.made += 1
        self.different += found["verdict"] == "different"
        self.missed += not low <= rows / ROWS <= high

    def figure(self, name: str, bar: float, at_most: bool) -> Figure:
        return Figure(
            f"{name}, of {self.made} comparisons of {MIN_RUNS} runs each",
            100 * self.different / self.made,
            "%",
            100 * bar,
            at_most=at_most,
            spread=f"true ratio outside the 95% interval {100 * self.missed / self.made:.1f}%",
        )


def query(name: str, rows: int) -> str:
    product = f"generate_series(1, 1000) AS a, generate_series(1, {rows}) AS b"
    return f"SELECT sum((a * b) % 7) FROM {product} /* {name} */"


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Block beside which so many processes keep a CPU busy each."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def main() -> None:
    asked = arguments(__doc__ or "", comparisons=200, blocks=Blocks.SESSION.value, load=0)
    comparisons = 2 if asked.small else asked.comparisons
    same, slower = Counted(), Counted()
    with postgresql() as url, busy(asked.load):
        for _ in range(comparisons):
            same.add(url, ROWS, asked.blocks)
            slower.add(url, round(SLOWDOWN * ROWS), asked.blocks)
    where = f"blocks: {asked.blocks}, {asked.load} busy processes beside"
    report(
        [
            same.figure(f"A/A called different ({where})", FALSE_POSITIVES, at_most=True),
            slower.figure(f"+5% found ({where})", FOUND, at_most=False),
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
