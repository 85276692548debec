"""Load run of `tare bench oltp` beside processes that keep every CPU busy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.running import tare


def test_neighbours_that_keep_the_cpus_busy_are_in_the_first_line(tmp_path: Path) -> None:
    """Twice as many busy threads as CPUs."""
    at = ["--db", "sqlite", "--lab", str(tmp_path / "lab.db")]
    loaded = tare("bench", "oltp", "load", "ycsb", *at, "--scale", "1")
    assert loaded.code == 0, loaded.err
    hog = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(hog, start_new_session=True) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        done = tare(
            "bench",
            "oltp",
            "run",
            "ycsb",
            *at,
            "--rate",
            "100",
            "--duration",
            "5s",
            "--warmup",
            "1s",
            "--no-check",
        )
    finally:
        for process in hogs:
            process.kill()
            process.wait()
    assert done.out, done.err
    first = " ".join(done.out.split("\n\n")[0].split())
    assert first[0] in "!✗", first
    # Where even Tare is kept from the CPUs, it says so.
    assert re.search(r"[Oo]thers used \d+% of the CPUs in \d of \d s|could read the machine in", first), first
