"""Are 20,000 short processes all accounted for, and at what cost?

Two shells fork children that end at once while an exit listener is on and not asked. Every process must leave a
record or be reported lost; with BPF the births that the kernel counted must agree too.
"""

from __future__ import annotations

import statistics
import subprocess
import time

from benchmarks.common import Figure, arguments, report
from tare._probe import Probe, ProbeError

SHELLS = 2
LOOP = "i=0; while [ $i -lt $1 ]; do (:); i=$((i+1)); done"


def fork_and_end(count: int) -> set[int]:
    """Two shells fork children that end at once, `count` in all; the shells' ids."""
    shells = [subprocess.Popen(["/bin/sh", "-c", LOOP, "sh", str(count // SHELLS)]) for _ in range(SHELLS)]
    for shell in shells:
        if shell.wait() != 0:
            raise RuntimeError(f"a shell that forks ended with {shell.returncode}")
    return {shell.pid for shell in shells}


def main() -> None:
    asked = arguments("Exit records against forks", processes=20_000)
    count = 2_000 if asked.small else asked.processes
    start = time.perf_counter()
    fork_and_end(count)
    alone = time.perf_counter() - start
    figures = []
    for tier in ("bpf", "taskstats"):
        try:
            probe = Probe(tier)
        except ProbeError as error:
            print(f"{tier}: not measured: {error}")
            continue
        listener = probe.listen()
        start = time.perf_counter()
        shells = fork_and_end(count)
        seconds = time.perf_counter() - start
        exits = listener.drain()
        births, lost = listener.births(), listener.lost()
        start = time.perf_counter()
        listener.drain()
        stop = time.perf_counter()
        listener.stop()
        ours = [exit for exit in exits if exit.process.ppid in shells]
        recorded = {(exit.process.pid, exit.ended_ns) for exit in ours}
        assert births is None or births >= count, f"{births} births for {count} forks"
        run_us = statistics.median((exit.process.run_ns or 0) / 1e3 for exit in ours)
        spread = (
            f"{len(recorded)} records of {count} forks, {lost} reported lost, births {births}; "
            f"{1e6 * seconds / count:.0f} µs a process, {1e6 * alone / count:.0f} without listening; "
            f"median run time {run_us:.0f} µs; an idle drain {1e3 * (stop - start):.2f} ms"
        )
        unreported = 0 if lost else count - len(recorded)
        figures.append(
            Figure(f"exits missed and not reported, {tier}", unreported, "processes", 0, spread=spread)
        )
        figures.append(
            Figure(f"exits recorded, {tier}", 100 * len(recorded) / count, "%", 100, at_most=False)
        )
        probe.close()
    report(figures, asked.json)


if __name__ == "__main__":
    main()
