"""Every benchmark runs, checks its own answers and prints its figures. What they say is not judged here:
a figure depends on the machine, and a test must not."""

import os
import subprocess
import sys

import pytest
from benchmarks.run_all import NAMES

NEEDS_ROOT = {"snapshot", "exits", "parts", "truth", "profile_factors"}
ELSEWHERE = {
    "spark",  # tests/spark holds the same answers together, and planning them once takes a minute
    "profile_table1",  # it fetches two servers; test_interleaved_orders.py holds its comparison
    "profile_culprits",  # tests/profile/test_survivors.py profiles the same programs
    "profile_servers",  # its probes disturb tests beside it; tests/profile watches such servers
    "interrupted",  # it judges waits for a lock that tests beside it hold; tests/crash interrupts the same commands
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_it_runs_small_and_prints_figures_with_their_bars(name: str) -> None:
    if name in NEEDS_ROOT and os.geteuid() != 0:
        pytest.skip(f"benchmarks.{name} needs what only root may do")
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--small"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bar" in done.stdout
