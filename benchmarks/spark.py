"""The same expressions on Spark, over the Parquet export of a tenth of the large lab: the same answers, and what
they took beside DuckDB.

The cluster is Spark's local one: a driver, and two workers with executors of their own on this machine, which
read the Parquet files as any cluster would. `--threads 1` takes Spark's single process with two threads instead.
"""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments, report
from benchmarks.scale import QATCS, SMALL_QATCS, analysed
from benchmarks.synthetic import chunks, write_parquet

CLUSTER, THREADS = "local-cluster[2,1,1024]", "local[2]"
WHAT = ("ttp2", "model:ttp2")


def main() -> None:
    asked = arguments(__doc__ or "", threads=0)
    missing = _missing()
    if missing:
        print(f"SKIPPED, nothing measured against the bar: {missing}")
        sys.exit(0)
    qatcs = SMALL_QATCS if asked.small else QATCS // 10
    with tempfile.TemporaryDirectory(prefix="tare-spark-") as folder:
        report(measure(Path(folder), qatcs, THREADS if asked.threads or asked.small else CLUSTER), asked.json)


def measure(folder: Path, qatcs: int, master: str) -> list[Figure]:
    export = folder / "export"
    write_parquet(export, chunks(qatcs))
    duckdb = analysed(export, WHAT)
    spark = analysed(export, WHAT, "--spark", master)
    size = f"{qatcs * 10:,} QEs"
    return [
        Figure(f"answers that differ from DuckDB's, of {_count(duckdb['found'])}, {size}, {master}",
               _differing(duckdb["found"], spark["found"]), "", 0),
        *(
            Figure(f"{what}, {size}, {name}", one["took_s"][what], "s", math.inf,
                   spread=f"ready after {one['opened_s']:.3g} s")
            for name, one in (("DuckDB", duckdb), (f"Spark {master}", spark))
            for what in WHAT
        ),
    ]  # fmt: skip


def _missing() -> str | None:
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed (it is in requirements/dev.in)"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Spark needs a Java, and there is none (apt install default-jre-headless)"
    return None


def _leaves(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [leaf for key in sorted(found) for leaf in _leaves(found[key])]
    if isinstance(found, list):
        return [leaf for one in found for leaf in _leaves(one)]
    return [found]


def _count(found: Any) -> int:
    return len(_leaves(found))


def _differing(one: Any, other: Any) -> int:
    """Fractions to a relative 1e-9, all else exactly."""
    return sum(
        not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(a, float) and isinstance(b, float)
        else a != b
        for a, b in zip(_leaves(one), _leaves(other), strict=True)
    )


if __name__ == "__main__":
    main()
