"""Does a search find the one setting of twelve that matters? Each run is a new search on a server that Tare starts.

PostgreSQL waits 3 ms with each commit (commit_delay, commit_siblings = 0). One candidate shortens that wait, the others
set what this load does not use. A search has found it if the candidate is the best in the fresh blocks.

python -m benchmarks.tune_search [RUNS] [BUDGET]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from tare.dbms.servers import start_postgresql

BASELINE = {"commit_delay": "3000", "commit_siblings": "0"}
PLANTED = "commit_delay=1000"
IDLE = (
    "bgwriter_delay=50", "bgwriter_lru_maxpages=200", "deadlock_timeout=2000", "jit=off", "geqo=off",
    "autovacuum_naptime=120", "checkpoint_completion_target=0.8", "wal_writer_flush_after=64",
    "cursor_tuple_fraction=0.2", "from_collapse_limit=10", "join_collapse_limit=10",
)  # fmt: skip
LOAD = ("--rate", "150", "--connections", "16", "--window", "2s", "--settle", "0.3s", "--warmup", "2s")


def main(runs: int, budget: str) -> int:
    found = 0
    with (
        tempfile.TemporaryDirectory(prefix="tare-tune-search-") as folder,
        start_postgresql(settings=BASELINE) as server,
    ):
        environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state"}
        load = ("bench", "oltp", "load", "ycsb", "--db", server.url, "--scale", "0.1")
        subprocess.run(_tare(*load), env=environment, check=True, stdout=subprocess.DEVNULL)
        sets = [word for arm in (*IDLE[:6], PLANTED, *IDLE[6:]) for word in ("--set", arm)]
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
                _tare(*words, *rest), env=environment, check=False, capture_output=True, text=True
            )
            if done.returncode:
                print(f"{number + 1}: no result: {done.stdout[:300]} {done.stderr}", flush=True)
                continue
            is_found, line = _judged(json.loads(done.stdout))
            found += is_found
            print(f"{number + 1}: {line}", flush=True)
    print(f"{found} of {runs} found the planted setting")
    return 0


def _judged(report: dict[str, object]) -> tuple[bool, str]:
    """Whether the planted candidate is the best of the fresh blocks, and a line about them."""
    arms = {
        arm["name"]: {result["objective"]: result for result in arm["results"]}["p99"]
        for arm in report["arms"]  # type: ignore[attr-defined]
    }
    ratios = {name: result["ratio"] for name, result in arms.items() if result["ratio"]}
    best = min(ratios, key=lambda name: ratios[name]["value"], default="none")
    told = "; ".join(
        f"{name} {one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}] {arms[name]['verdict']}"
        for name, one in ratios.items()
    )
    took = report["search"]["took_s"]  # type: ignore[index]
    return best == PLANTED, f"{'found' if best == PLANTED else 'missed'} in {took:.0f} s: p99 {told}"


def _tare(*words: str) -> list[str]:
    return [sys.executable, "-m", "tare", *words]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, sys.argv[2] if len(sys.argv) > 2 else "10m"))
