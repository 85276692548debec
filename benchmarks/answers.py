"""Answers of parallel floating-point sums: no run changes its answer, and each planted wrong digit is found."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common import Figure, arguments, postgresql, report, tare
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.measure.answer import Change, FirstAnswer, answer_hash

GROUPS = 10_000
QUERY = f"SELECT i % {GROUPS} AS grp, avg(v), sum(v), stddev_samp(v) FROM reals GROUP BY i % {GROUPS}"
PLANTED = QUERY.replace("avg(v)", "avg(v) * CASE i % {groups} WHEN {grp} THEN 1.00000001 ELSE 1 END", 1)
LOAD = "CREATE TABLE reals AS SELECT i, sin(i) * power(10e0, i % 7) AS v FROM {series}"
PARALLEL = (
    "SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
    "SET min_parallel_table_scan_size = 0; SET debug_parallel_query = on"
)


@contextmanager
def servers(rows: int) -> Iterator[dict[str, tuple[str, str]]]:
    """URL and set-up of each DBMS, by its name, with the table in place."""
    with tempfile.TemporaryDirectory(prefix="tare-answers-") as folder, postgresql() as url:
        path = Path(folder) / "reals.duckdb"
        import duckdb

        with duckdb.connect(path) as connection:
            connection.execute(LOAD.format(series=f"range({rows}) AS s(i)"))
        session = find(url).connect(url, allow_writes=True)
        session.run(LOAD.format(series=f"generate_series(1, {rows}) AS s(i)") + "; ANALYZE reals")
        session.close()
        yield {"PostgreSQL": (url, PARALLEL), "DuckDB": (f"duckdb:///{path}", "SET threads = 4")}


def planted(session: Session, runs: int, first: FirstAnswer) -> tuple[int, int]:
    """Wrong digits that were found, of `runs`; and distinct ten-digit hashes of as many right answers."""
    draw = random.Random(1)
    right, hashes = session.prepare(QUERY), set()
    found = 0
    for _ in range(runs):
        answer = right.execute(None)
        rows = list(answer.rows())
        hashes.add(answer_hash(rows))
        same = first.compare(answer.row_count, rows).difference
        assert same is None or same.change is Change.NOTHING, same.text
        wrong = session.prepare(PLANTED.format(groups=GROUPS, grp=draw.randrange(GROUPS)))
        answer = wrong.execute(None)
        difference = first.compare(answer.row_count, answer.rows()).difference
        found += difference is not None and difference.change is Change.DOUBLES
        wrong.close()
    return found, len(hashes)


def main() -> None:
    asked = arguments(__doc__ or "", runs=200, rows=1_000_000)
    runs, rows = (20, 300_000) if asked.small else (asked.runs, asked.rows)
    figures = []
    with servers(rows) as places:
        for name, (url, setup) in places.items():
            result = json.loads(
                tare("time", QUERY, "--db", url, "--runs", str(runs), "--setup", setup, "--json", "-")
            )
            answer, executions = result["results"][0]["answer"], result["results"][0]["qes"]
            session = find(url).connect(url)
            session.run(setup)
            found, hashes = planted(session, runs, FirstAnswer())
            session.close()
            apart = f"largest difference {answer['difference']:.1g}"
            figures += [
                Figure(
                    f"{name}: {len(executions)} runs that do not give one answer",
                    float(not answer["consistent"]),
                    "",
                    0,
                    spread=f"{apart}; {hashes} ten-digit hashes in {runs} runs more",
                ),
                Figure(
                    f"{name}: wrong digits found, planted at 1e-8", found, f"of {runs}", runs, at_most=False
                ),
            ]
    report(figures, asked.json)


if __name__ == "__main__":
    main()
