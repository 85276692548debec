"""CPU time from the call of a command to its end, where it has nothing to do: imports, mostly."""

from __future__ import annotations

import math
import resource
import statistics
import subprocess
import sys

from benchmarks.common import Figure, arguments, quartiles, report

BARS_MS = {
    ("--version",): 80.0,
    ("--help",): 200.0,
    ("time", "--help"): math.inf,
    ("bench", "oltp", "run", "-h"): math.inf,
}


def cpu_ms(command: list[str]) -> float:
    """User and system time of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    asked = arguments("CPU time of commands that only start", runs=20)
    runs = 5 if asked.small else asked.runs
    figures = []
    python = cpu_ms([sys.executable, "-c", "pass"])
    for words, bar in BARS_MS.items():
        command = [sys.executable, "-m", "tare", *words]
        cpu_ms(command)  # writes bytecode
        times = [cpu_ms(command) for _ in range(runs)]
        figures.append(
            Figure(f"tare {' '.join(words)}", statistics.median(times), "ms", bar, spread=quartiles(times))
        )
    print(f"Python alone: {python:.0f} ms")
    report(figures, asked.json)


if __name__ == "__main__":
    main()
