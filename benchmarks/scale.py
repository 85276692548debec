"""Cost of an analysis on a lab as large as TTPv2's own: 555,850 QEs, about ten active processes each.

Each analysis is timed in a process of its own, from the program's first line to its last answer; opening the
lab is in it. The lab is synthetic (`benchmarks.synthetic`) and just written, so its file is in the page cache.
`ttp2` is run from the SQLite lab and from the Parquet export, and must find the same in both.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report
from benchmarks.synthetic import QATCS, chunks, write_lab, write_parquet

ALL = ("ttp1", "ttp2", "exact", "model:ttp1", "model:ttp2")
PARTS = (100, 10, 1)  # of the whole lab
SMALL_QATCS = 200
TTP2_S, ALL_S, RSS_GB = 10.0, 60.0, 2.0


def main() -> None:
    asked = arguments(__doc__ or "", rounds=3)
    with tempfile.TemporaryDirectory(prefix="tare-scale-") as folder:
        qatcs, rounds = (SMALL_QATCS, 1) if asked.small else (QATCS, asked.rounds)
        figures = measure(Path(folder), qatcs, rounds)
    report(figures, asked.json)
    sys.exit(0)


def measure(folder: Path, qatcs: int, rounds: int) -> list[Figure]:
    parts = PARTS if qatcs > SMALL_QATCS else PARTS[1:]
    labs = {part: folder / f"{part}.db" for part in parts}
    for part, file in labs.items():
        write_lab(file, chunks(max(1, qatcs // part)))
    export = folder / "export"
    write_parquet(export, chunks(qatcs))

    from_lab: dict[int, list[dict[str, Any]]] = {part: [] for part in parts}
    from_export: list[dict[str, Any]] = []
    for _ in range(rounds):
        for part, file in labs.items():
            from_lab[part].append(analysed(file, ["ttp2"]))
        from_export.append(analysed(export, ["ttp2"]))
    everything = analysed(labs[1], ALL)

    whole = from_lab[1]
    differing = [one for one in (*whole, *from_export, everything) if not same(one, whole[0])]
    if differing:
        raise SystemExit(
            f"the answers differ: {differing[0]['found']['ttp2']} and {whole[0]['found']['ttp2']}"
        )
    end = whole[0]["found"]["ttp2"]["remaining"][-1]
    size = f"{qatcs * 10:,} QEs"
    print(f"retained by ttp2: {end[1]:,} of {size}, {end[2]:,} of {qatcs:,} Q@Cs, from every source")
    return [
        *_figures(f"ttp2, SQLite lab, {size}", whole, TTP2_S),
        *_figures(f"ttp2, Parquet export, {size}", from_export, TTP2_S),
        *_figures(f"three protocols and two models, SQLite lab, {size}", [everything], ALL_S),
        _growth(from_lab, qatcs),
    ]


def analysed(source: Path, what: Sequence[str], *more: str) -> dict[str, Any]:
    """Return the JSON that `benchmarks.analysis` prints for a source."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.analysis", *more, str(source), *what],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the analysis of {source.name} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both found the same with ttp2: counts exactly, the sum of all times to 1e-9."""
    a, b = one["found"]["ttp2"], other["found"]["ttp2"]
    return (
        a["remaining"] == b["remaining"]
        and a["checks"] == b["checks"]
        and a["times"]["qatcs"] == b["times"]["qatcs"]
        and a["times"]["retained"] == b["times"]["retained"]
        and math.isclose(a["times"]["ms"], b["times"]["ms"], rel_tol=1e-9)
    )


def _figures(name: str, runs: Sequence[dict[str, Any]], bar_s: float) -> list[Figure]:
    walls = [one["wall_s"] for one in runs]
    cpu = statistics.median(one["cpu_s"] for one in runs)
    spread = f"{min(walls):.3g}–{max(walls):.3g}, n={len(walls)}; " if len(walls) > 1 else ""
    opened = statistics.median(one["opened_s"] for one in runs)
    return [
        Figure(
            f"{name}: wall",
            statistics.median(walls),
            "s",
            bar_s,
            spread=f"{spread}opened after {opened:.3g} s; {cpu:.3g} s of CPU",
        ),
        Figure(f"{name}: peak memory", max(one["peak_rss_bytes"] for one in runs) / 1e9, "GB", RSS_GB),
    ]


def _growth(runs: dict[int, list[dict[str, Any]]], qatcs: int) -> Figure:
    """The exponent of the cost over the size: of the steepest of the steps, in CPU time, which other programs
    on the machine disturb less than wall time."""
    cost = {part: statistics.median(one["cpu_s"] for one in some) for part, some in runs.items()}
    sizes = {part: math.log(max(1, qatcs // part)) for part in runs}
    steps = [
        (math.log(cost[to]) - math.log(cost[of])) / (sizes[to] - sizes[of])
        for of, to in itertools.pairwise(runs)
    ]
    fitted = statistics.linear_regression(
        list(sizes.values()), [math.log(seconds) for seconds in cost.values()]
    ).slope
    said = ", ".join(
        f"1/{part}: {seconds:.3g} s" if part > 1 else f"1: {seconds:.3g} s" for part, seconds in cost.items()
    )
    return Figure(
        "ttp2, SQLite lab: exponent of CPU time over size, steepest step",
        max(steps),
        "",
        1.0,
        spread=f"fitted {fitted:.2f}; {said}",
    )


if __name__ == "__main__":
    main()
