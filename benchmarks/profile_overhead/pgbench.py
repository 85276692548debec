"""pgbench's own account of a short load: what a client sees of a server, whoever else looks at it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

THREADS = 1


class Pgbench:
    def __init__(self, binaries: Path) -> None:
        beside = binaries / "pgbench"
        self.program = str(beside) if beside.exists() else shutil.which("pgbench") or ""
        if not self.program:
            raise SystemExit("pgbench is not installed: apt install postgresql-contrib, or the wheel's")

    def prepare(self, url: str, scale: int) -> None:
        self._run("--initialize", "--quiet", f"--scale={scale}", url)

    def window(self, url: str, clients: int, seconds: int, rate: float | None) -> tuple[int, float, float]:
        """Transactions, how many a second, and the mean ms of one: from when it was due, where a rate is asked for."""
        paced = () if rate is None else (f"--rate={rate:.1f}",)
        told = self._run(
            "--no-vacuum", f"--client={clients}", f"--jobs={THREADS}", f"--time={seconds}", *paced, url
        )
        return (
            int(number(r"transactions actually processed: (\d+)", told)),
            number(r"tps = ([\d.]+)", told),
            number(r"latency average = ([\d.]+) ms", told),
        )

    def _run(self, *words: str) -> str:
        done = subprocess.run([self.program, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"pgbench ended with {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout


def number(pattern: str, told: str) -> float:
    """Return the number that a program printed. Ends the benchmark if there is none."""
    found = re.search(pattern, told)
    if found is None:
        raise SystemExit(f"nothing like {pattern} in:\n{told[-2000:]}")
    return float(found.group(1))
