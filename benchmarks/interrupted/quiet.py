"""Interrupted runs of `tare isolate`, in PID and mount namespaces of their own: nobody else's processes are moved.

Run by `ends`; prints the ends as JSON."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.interrupted.trial import End, interrupt, lock_is_free, signals

NAMESPACES = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount")
LAST = max(os.sched_getaffinity(0))
LASTS_S = 2.0
"""Length of a run that is not interrupted: it reserves a CPU, sleeps and puts the others back."""


def ends(count: int, seed: int) -> list[End]:
    done = subprocess.run(
        [*NAMESPACES, sys.executable, "-m", "benchmarks.interrupted.quiet", str(count), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [End(**end) for end in json.loads(done.stdout)]


def main() -> None:
    count, seed = map(int, sys.argv[1:])
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    neighbours = [
        subprocess.Popen(["sleep", "1000000"]),
        subprocess.Popen(["taskset", "-c", str(LAST), "sleep", "1000000"]),
    ]
    before = [os.sched_getaffinity(0), {LAST}]

    def restored() -> str:
        now = [os.sched_getaffinity(neighbour.pid) for neighbour in neighbours]
        cgroups = [str(path) for path in Path("/sys/fs/cgroup").glob("**/tare-*")]
        if now != before or cgroups:
            return f"affinities {now}, cgroups {cgroups}"
        return lock_is_free()

    own = {neighbour.pid for neighbour in neighbours}
    words = ["isolate", "--no-machine-settings", "--cpu-list", str(LAST), "--", "sleep", "1"]
    draw = random.Random(seed)
    made: list[End] = []
    while len(made) < count:
        end = interrupt("isolate", words, draw.uniform(0.1, LASTS_S), signals(draw), restored, own)
        if end is not None:
            made.append(end)
    for neighbour in neighbours:
        neighbour.kill()
    print(json.dumps([asdict(end) for end in made]))


if __name__ == "__main__":
    main()
