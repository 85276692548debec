"""The Wisconsin benchmark on four DBMSes, both generations, with and without indexes: how long, and all answers right?

Tare makes and starts the DBMSes. The whole of it stays in `target/wisconsin` with its report; what is left there
from an earlier call is made anew. `--sizes` weighs 1993 at 10⁴, 10⁵ and 10⁶ tuples on DuckDB and PostgreSQL instead.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report, tare

ALL = ("--db", "postgresql", "--db", "mariadb", "--db", "sqlite", "--db", "duckdb")
LARGE = (
    "--db",
    "postgresql",
    "--db",
    "duckdb",
    "--generation",
    "1993",
    "--rows",
    "10000,100000,1000000",
    "--runs",
    "6",
)
SMALL = (
    *("--db", "sqlite", "--db", "duckdb", "--generation", "1993", "--rows", "1000"),
    *("--query", "aggregate", "--runs", "6"),
)
OUTPUTS = Path("target")
MINUTES = 15.0


def main() -> None:
    asked = arguments(__doc__ or "", sizes=0)
    with ExitStack() as stack:
        if asked.small:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-wisconsin-")))
        else:
            folder = OUTPUTS / ("wisconsin-sizes" if asked.sizes else "wisconsin")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        folder.chmod(0o755)  # root's servers run as an ordinary user
        what = SMALL if asked.small else LARGE if asked.sizes else ALL
        report(measure(folder, what, math.inf if asked.sizes else MINUTES), asked.json)


def measure(folder: Path, what: Sequence[str], bar_minutes: float) -> list[Figure]:
    lab, page = folder / "lab.db", folder / "report.html"
    began = time.monotonic()
    told = json.loads(tare("bench", "wisconsin", *what, "--lab", lab, "--json"))["runs"]
    took = (time.monotonic() - began) / 60
    runs = [str(run["run"]) for run in told]
    outputs = ("--html", page, "--markdown", page.with_suffix(".md"), "--json", page.with_suffix(".json"))
    tare("bench", "report", *runs, "--lab", lab, *outputs)
    found: dict[str, Any] = json.loads(page.with_suffix(".json").read_text())
    answers = found["answers"]
    for one in answers["differing"]:
        print(f"answers differ: {one}")
    qes = sum(run["qes"] for run in told)
    failed = sum(len(run["failures"]) for run in told)
    missing = sum(len(run["missing"]) for run in told)
    return [
        Figure(
            "the whole benchmark",
            took,
            "min",
            bar_minutes,
            spread=f"{len(runs)} runs, {qes:,} QEs; {missing} queries that a DBMS lacks the organisation for",
        ),
        Figure(
            "variants whose answers differ between DBMSes",
            answers["compared"] - answers["equal"],
            "",
            0.0,
            spread=f"of {answers['compared']:,}; every other was held against its definition alone",
        ),
        Figure("Q@Cs that failed", failed, "", 0.0),
        Figure("report", page.stat().st_size / 1e6, "MB", 1.5),
    ]


if __name__ == "__main__":
    main()
