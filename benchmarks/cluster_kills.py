"""Kills processes of clusters at random points of a start, a load and a stop, and looks for what is left after a stop.

Killed is the command itself, a server, any process of the cluster, or a helper such as initdb.

    python -m benchmarks.cluster_kills
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.common import Figure, arguments, report
from tare.cluster import cgroup, record
from tare.dbms import local

SCALE = "0.01"
PHASES = {"start": 2.5, "load": 6.0, "stop": 1.0}
"""Commands, and the seconds within which their victims are killed."""

VICTIMS = ("command", "process of the cluster", "both")
STOP_BAR_S = 2.0


def main() -> int:
    asked = arguments(__doc__ or "", kills=20, seed=29)
    kills = 2 if asked.small else asked.kills
    if os.geteuid() != 0:
        report([Figure("not run, since it needs root: kills", 0, "kills", float("inf"))], asked.json)
        return 0
    chance = random.Random(asked.seed)
    clean, longest_s, left = 0, 0.0, []
    for number in range(kills):
        name = f"kills{number}"
        phase, victim = list(PHASES)[number % len(PHASES)], chance.choice(VICTIMS)
        shared = _shared_memory()
        _prepare(name, phase)
        _kill(name, phase, victim, chance)
        began = time.monotonic()
        code = _tare("cluster", "stop", "--name", name)
        longest_s = max(longest_s, time.monotonic() - began)
        found = _leftovers(name) + sorted(_orphans() - shared)
        clean += code == 0 and not found
        left += (
            [f"kill {number} ({victim}, {phase}): stop ended with {code}, left {found}"]
            if code or found
            else []
        )
    figures = [
        Figure(
            "stops after kill -9 that left nothing",
            clean,
            "stops",
            kills,
            at_most=False,
            spread="; ".join(left),
        ),
        Figure("longest stop, the command's own start included", longest_s, "s", STOP_BAR_S),
    ]
    report(figures, asked.json)
    return int(clean != kills)


def _prepare(name: str, phase: str) -> None:
    if phase != "start" and _tare(*_start(name)) != 0:
        raise SystemExit("a cluster did not start")


def _start(name: str) -> tuple[str, ...]:
    return ("cluster", "start", "postgresql", "--shards", "2", "--name", name, "--disk-size", "1")


def _kill(name: str, phase: str, victim: str, chance: random.Random) -> None:
    """Begin the command of a phase, and kill the victim at a random point of it."""
    words = {
        "start": _start(name),
        "load": ("cluster", "load", "tpch", "--name", name, "--scale", SCALE),
        "stop": ("cluster", "stop", "--name", name),
    }[phase]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-m", "tare", *words], stdout=quiet, stderr=quiet) as command:
        time.sleep(chance.uniform(0, PHASES[phase]))
        if victim != VICTIMS[0]:
            pids = _processes(name)
            if pids:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(pids), signal.SIGKILL)
        if victim != VICTIMS[1]:
            command.kill()


def _processes(name: str) -> list[int]:
    cluster = record.read(name)
    if cluster is None:
        return []
    names = (cluster.helpers, *(node.cgroup for node in cluster.nodes))
    return [pid for one in names for pid in cgroup.Group(one, cgroup.layout()).processes()]


def _leftovers(name: str) -> list[str]:
    """Everything of this machine that carries the cluster's name."""
    sign = re.compile(rf"tare-(cluster-)?{name}-")
    found = [str(path) for path in Path("/run/netns").glob("*") if sign.match(path.name)]
    found += [str(path) for root in cgroup.layout().roots for path in root.glob(f"tare-{name}-*")]
    found += [line for line in Path("/proc/self/mounts").read_text().splitlines() if sign.search(line)]
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            found += [str(file)] if sign.search(file.read_text()) else []
    found += [f"process {pid}" for pid in local.processes() if sign.search(" ".join(local.command_line(pid)))]
    found += [str(path) for path in Path(tempfile.gettempdir()).iterdir() if sign.match(path.name)]
    found += [str(record.folder(name))] if record.folder(name).exists() else []
    devices = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return found + [line for line in devices.splitlines() if "veth" in line and sign.search(line)]


def _shared_memory() -> set[str]:
    return {path.name for path in Path("/dev/shm").glob("PostgreSQL.*")}


def _orphans() -> set[str]:
    """Files of shared memory that no process maps."""
    mapped = set()
    for pid in local.processes():
        with suppress(OSError):
            mapped.update(re.findall(r"/dev/shm/(PostgreSQL\.\d+)", Path(f"/proc/{pid}/maps").read_text()))
    return _shared_memory() - mapped


def _tare(*words: str) -> int:
    command = [sys.executable, "-m", "tare", *words]
    quiet = subprocess.DEVNULL
    return subprocess.run(command, check=False, stdout=quiet, stderr=quiet, timeout=120).returncode


if __name__ == "__main__":
    sys.exit(main())
