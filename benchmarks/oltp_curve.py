"""Latency over requested rate of TPC-C on PostgreSQL, and whether its knee stays where it was found.

A search finds the highest rate within a budget for the p99; a grid of rates around it is then measured on the same
data, in mirrored order. The figures: what the search cost, how narrow its bracket is, and how many of the grid's steps
contradict it. `--folder F` keeps both reports there as HTML, Markdown and JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import empty, load

WIDEST = 1.3  # upper end of the bracket over its lower end
MOST_MINUTES = 20
CONTRADICTIONS = 0.05  # share of the grid's steps
SHARES = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5)  # of the knee


def main() -> None:
    asked = arguments(
        __doc__ or "",
        warehouses=4,
        seconds=20,
        warmup=5,
        connections=64,
        budget_ms=50,
        minutes=MOST_MINUTES,
        repeats=2,
        folder="",
    )
    sizes = [
        "--connections",
        asked.connections,
        "--warmup",
        f"{asked.warmup}s",
        "--duration",
        f"{asked.seconds}s",
    ]
    if asked.small:
        sizes = ["--connections", 4, "--warmup", "0s", "--duration", "10s"]
    with TemporaryDirectory(prefix="tare-curve-") as scratch, empty("postgresql") as url:
        folder = Path(asked.folder or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        load(url, 1 if asked.small else asked.warehouses)
        common = ["tpcc", "--db", url, "--lab", folder / "lab.db", *sizes]
        bounds = ["--rates", "10,20", "--max", "1m"] if asked.small else ["--max", f"{asked.minutes}m"]
        search = _curve([*common, "--find-limit", f"p99={asked.budget_ms}ms", *bounds], folder / "search")
        [knee] = search["knees"]
        rates = _grid(knee["rate"] or knee["above"] or 100.0, small=asked.small)
        repeats = 1 if asked.small else asked.repeats
        grid = _curve([*common, "--rates", rates, "--repeats", repeats], folder / "grid")
    report(_figures(search, grid, asked.budget_ms), asked.json)


def _curve(words: list[object], to: Path) -> Any:
    """The report of a curve, whose exit code only says how it ended."""
    files = [word for form in ("html", "markdown", "json") for word in (f"--{form}", f"{to}.{form}")]
    command = [sys.executable, "-m", "tare", "bench", "oltp", "curve", *map(str, [*words, *files])]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    return json.loads(Path(f"{to}.json").read_text())


def _grid(knee: float, *, small: bool) -> str:
    shares = SHARES[:1] if small else SHARES
    return ",".join(f"{share * knee:.0f}" for share in shares)


def _figures(search: Any, grid: Any, budget_ms: float) -> list[Figure]:
    [knee] = search["knees"]
    low, high = knee["rate"], knee["above"]
    width = high / low if low and high else float("inf")
    disturbed = sum(bool(step["disturbed"]) for step in (*search["steps"], *grid["steps"]))
    steps = len(search["steps"]) + len(grid["steps"])
    against = [step for step in grid["steps"] if _contradicts(step, low, high, budget_ms)]
    return [
        Figure(
            "search: minutes",
            knee["minutes"],
            "min",
            MOST_MINUTES,
            spread=f"{knee['steps']} steps, {knee['ended']}",
        ),
        Figure(
            "search: upper over lower end of the bracket", width, "", WIDEST, spread=f"{low}/s to {high}/s"
        ),
        Figure(
            "grid on the same data: share of steps that contradict the bracket",
            len(against) / len(grid["steps"]),
            "",
            CONTRADICTIONS,
            spread=f"{len(grid['steps'])} steps; {disturbed} of all {steps} steps were disturbed",
        ),
    ]


def _contradicts(step: Any, low: float | None, high: float | None, budget_ms: float) -> bool:
    """Whether a step lies clearly above the budget at or below the bracket, or clearly below it above."""
    p99 = step["response"]["p99"]
    held = step["capacity"] == "sustained"
    if low and step["requested"] <= low:
        return not held or (p99 is not None and (p99["low"] or 0.0) > budget_ms)
    return bool(
        high and step["requested"] >= high and held and p99 and p99["high"] and p99["high"] < budget_ms
    )


if __name__ == "__main__":
    main()
