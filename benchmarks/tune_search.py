"""Does a search find the one setting of twelve that matters? Each run is a new search on a server that Tare starts.

PostgreSQL waits 3 ms with each commit (commit_delay, commit_siblings = 0). One candidate shortens that wait, the others
set what this load does not use. A search has found it if the candidate is the best in the fresh blocks.

    python -m benchmarks.tune_search
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.common import Figure, arguments, command_of, report
from tare.dbms.servers import start_postgresql

BASELINE = {"commit_delay": "3000", "commit_siblings": "0"}
PLANTED = "commit_delay=1000"
IDLE = (
    "bgwriter_delay=50", "bgwriter_lru_maxpages=200", "deadlock_timeout=2000", "jit=off", "geqo=off",
    "autovacuum_naptime=120", "checkpoint_completion_target=0.8", "wal_writer_flush_after=64",
    "cursor_tuple_fraction=0.2", "from_collapse_limit=10", "join_collapse_limit=10",
)  # fmt: skip
LOAD = ("--rate", "150", "--connections", "16", "--window", "2s", "--settle", "0.3s", "--warmup", "2s")
WANTED = 0.9
"""Share of the searches that find it."""


def main() -> int:
    asked = arguments(__doc__ or "", runs=10, budget="10m")
    runs, budget, idle = (1, "2m", IDLE[:2]) if asked.small else (asked.runs, asked.budget, IDLE)
    found = 0
    with (
        tempfile.TemporaryDirectory(prefix="tare-tune-search-") as folder,
        start_postgresql(settings=BASELINE) as server,
    ):
        environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state"}
        load = ("bench", "oltp", "load", "ycsb", "--db", server.url, "--scale", "0.1")
        subprocess.run(command_of(*load), env=environment, check=True, stdout=subprocess.DEVNULL)
        middle = len(idle) // 2
        sets = [word for arm in (*idle[:middle], PLANTED, *idle[middle:]) for word in ("--set", arm)]
        for number in range(runs):
            words = ("tune", "search", "ycsb", "--db", server.url, *LOAD, *sets, "--objective", "p99,mean")
            rest = (
                "--budget",
                budget,
                "--seed",
                str(number),
                "--tunings",
                f"{folder}/tunings",
                "--json",
                "-",
            )
            done = subprocess.run(
                command_of(*words, *rest), env=environment, check=False, capture_output=True, text=True
            )
            if done.returncode:
                print(f"{number + 1}: no result: {done.stderr}", file=sys.stderr)
                continue
            is_found, line = _judge(json.loads(done.stdout))
            found += is_found
            print(f"{number + 1}: {line}", file=sys.stderr)
    figures = [
        Figure(
            "searches that found the planted setting", found, "runs", math.ceil(WANTED * runs), at_most=False
        )
    ]
    report(figures, asked.json)
    return int(not all(figure.met for figure in figures))


def _judge(tuning: dict[str, Any]) -> tuple[bool, str]:
    """Whether the planted candidate is the best of the fresh blocks, and a line about them."""
    arms = {
        arm["name"]: {result["objective"]: result for result in arm["results"]}["p99"]
        for arm in tuning["arms"]
    }
    ratios = {name: result["ratio"] for name, result in arms.items() if result["ratio"]}
    best = min(ratios, key=lambda name: ratios[name]["value"], default="none")
    shown = "; ".join(
        f"{name} {ratio['value']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}] {arms[name]['verdict']}"
        for name, ratio in ratios.items()
    )
    took_s = tuning["search"]["took_s"]
    return best == PLANTED, f"{'found' if best == PLANTED else 'missed'} in {took_s:.0f} s: p99 {shown}"


if __name__ == "__main__":
    sys.exit(main())
