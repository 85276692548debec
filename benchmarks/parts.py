"""Do the parts add up? |wall − (CPU + block I/O + run-queue wait + sleep + steal)| over wall, warm and cold."""

from __future__ import annotations

import statistics
from pathlib import Path

import psycopg

from benchmarks.common import Figure, arguments, postgresql, quartiles, report, rig, weigh_once
from tare.measure.choices import CacheState
from tare.measure.query import Query
from tare.measure.rig import Rig

LOAD = """
CREATE TABLE wide AS SELECT i AS id, i % 97 AS grp, repeat('x', 300) AS pad FROM generate_series(1, {rows}) AS i;
CHECKPOINT;
"""
QUERY = Query("scan", "SELECT grp, count(*), sum(id) FROM wide GROUP BY grp")


def shares(tare: Rig, cache: CacheState, runs: int) -> tuple[list[float], list[str]]:
    """Percent of wall left unexplained by each QE, and why QEs were rejected."""
    left, rejected = [], []
    for index in range(runs + 1):
        qe = weigh_once(tare, QUERY, cache)
        assert qe.elapsed, qe.error
        assert qe.row_count == 97
        if index == 0:
            continue
        if qe.elapsed.sleep_ns is None:
            rejected.append(qe.elapsed.why["sleep"])
        elif qe.elapsed.residue_ns is not None:
            left.append(100 * abs(qe.elapsed.residue_ns) / qe.elapsed.wall_ns)
    return left, rejected


def main() -> None:
    asked = arguments(__doc__ or "", runs=30, rows=400_000)
    runs, rows = (6, 50_000) if asked.small else (asked.runs, asked.rows)
    figures = []
    for io_method in ("worker", "sync"):
        with postgresql(io_method=io_method) as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(LOAD.format(rows=rows))
            with rig(url) as tare:
                for cache in (CacheState.WARM, CacheState.COLD):
                    left, rejected = shares(tare, cache, runs)
                    if not left:
                        print(f"{cache}: no QE has all its parts: {rejected[0]}")
                        continue
                    figures.append(
                        Figure(
                            f"residue, {cache}, io_method={io_method}",
                            statistics.median(left),
                            "% of wall",
                            2.0,
                            spread=f"{quartiles(left)}, largest {max(left):.3g}; {len(rejected)} traces rejected",
                        )
                    )
    report(figures, asked.json)


if __name__ == "__main__":
    assert Path("/proc").exists()
    main()
