"""The Wisconsin benchmark's rows: how fast they are made and loaded, and is each there once?

10⁷ tuples go to a CSV file by `tare data`, in a process of its own, synced to the disk; unique1 is then read back
from the file, and each value marked once. Loading is `Session.load` from the generator through a pipe, as
`tare bench` does it, beside a bare COPY, by the PostgreSQL server itself, of the same rows from a file
in the page cache; in turn, so that both meet the same neighbours.
"""

from __future__ import annotations

import itertools
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.common import Figure, arguments, postgresql, report
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.workload.wisconsin.layout import layout_of
from tare.workload.wisconsin.pipe import piped
from tare.workload.wisconsin.relations import relation
from tare.workload.wisconsin.rows import write_csv
from tare.workload.wisconsin.specification import Generation

CSV_S, RSS_MB, RATIO = 20.0, 200.0, 1.3
RELATION = relation(Generation.Y1993, "tenktup1")
PART = 64 << 20  # bytes


def main() -> None:
    asked = arguments(__doc__ or "", rounds=7, rows=10_000_000, loaded=1_000_000)
    rows, loaded, rounds = (100_000, 20_000, 2) if asked.small else (asked.rows, asked.loaded, asked.rounds)
    with tempfile.TemporaryDirectory(prefix="tare-wisconsin-data-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as an ordinary user
        report([*generating(folder, rows), *loading(folder, loaded, rounds)], asked.json)


def generating(folder: Path, rows: int) -> list[Figure]:
    words = ("data", "wisconsin", "--rows", str(rows), "--relation", RELATION.name, "--no-header")
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "tare", *words, "--to", str(folder)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - began
    if status:
        raise SystemExit("tare data failed")
    file = folder / f"{RELATION.name}.csv"
    size = file.stat().st_size
    missing = rows - distinct(file, rows)
    file.unlink()
    return [
        Figure(
            f"{rows:,} tuples to CSV",
            took,
            "s",
            CSV_S,
            spread=f"{size / 1e9:.2f} GB, {usage.ru_utime + usage.ru_stime:.3g} s of CPU",
        ),
        Figure("its peak memory", usage.ru_maxrss / 1e3, "MB", RSS_MB),
        Figure(f"values of unique1 that are not in the file, of {rows:,}", missing, "values", 0),
    ]


def distinct(file: Path, rows: int) -> int:
    """How many of 0 … rows − 1 begin a line. Ends the benchmark if one does twice, or is no such number."""
    seen = np.zeros(rows, dtype=bool)
    with file.open("rb") as stream:
        for part in iter(lambda: stream.readlines(PART), []):
            found = np.array([int(line[: line.index(b",")]) for line in part])
            if seen[found].any() or len(np.unique(found)) != len(found):
                raise SystemExit("a value of unique1 is there twice")
            seen[found] = True
    return int(seen.sum())


def loading(folder: Path, rows: int, rounds: int) -> list[Figure]:
    file = folder / "rows.csv"
    write_csv(RELATION, rows, file)
    file.chmod(0o644)
    with postgresql(max_wal_size="8GB") as url:
        session = find(url).connect(url, allow_writes=True)
        try:
            make(session)
            ways: dict[str, Callable[[], object]] = {
                "bare": lambda: session.run(f"COPY {RELATION.name} FROM '{file}' WITH (FORMAT csv)"),
                "pipe": lambda: through_pipe(session, rows),
                "file": lambda: session.load(RELATION.name, file),
            }
            took: dict[str, list[float]] = {way: [] for way in ways}
            orders = itertools.cycle(itertools.permutations(ways))
            for order in itertools.islice(orders, rounds):
                for way in order:
                    took[way].append(timed(session, rows, ways[way]))
        finally:
            session.close()
    shown = {"pipe": "generated and loaded", "file": "loaded from the file"}
    return [
        *(
            _ratio(f"PostgreSQL, {rows:,} tuples {how}, beside a bare COPY", took[way], took["bare"], rows)
            for way, how in shown.items()
        ),
        embedded(folder, rows),
    ]


def embedded(folder: Path, rows: int) -> Figure:
    path = folder / "loaded.duckdb"
    duckdb.connect(path).close()
    session = find("duckdb://").connect(f"duckdb:///{path}", allow_writes=True)
    try:
        make(session)
        took = timed(session, rows, lambda: through_pipe(session, rows))
    finally:
        session.close()
    return Figure(
        f"DuckDB, {rows:,} tuples generated and loaded", rows / took / 1e3, "thousand a second", math.inf
    )


def make(session: Session) -> None:
    session.run(layout_of(session.server.dbms).create(RELATION.name, RELATION.attributes))


def through_pipe(session: Session, rows: int) -> int:
    return piped(lambda pipe: write_csv(RELATION, rows, pipe), lambda pipe: session.load(RELATION.name, pipe))


def timed(session: Session, rows: int, load: Callable[[], object]) -> float:
    """Into an empty table, with no write of the last round left to do."""
    session.run(f"TRUNCATE {RELATION.name}")
    session.flush()
    began = time.monotonic()
    load()
    took = time.monotonic() - began
    prepared = session.prepare(f"SELECT count(*) FROM {RELATION.name}")
    ((count,),) = prepared.execute(None).rows()
    prepared.close()
    if count != rows:
        raise SystemExit(f"{count} of {rows} tuples were loaded")
    return took


def _ratio(name: str, ours: list[float], bare: list[float], rows: int) -> Figure:
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    rate = rows / statistics.median(ours) / 1e3
    return Figure(
        name,
        statistics.median(ratios),
        "times",
        RATIO,
        spread=f"{min(ratios):.3g}–{max(ratios):.3g}, n={len(ratios)}; {rate:.0f} thousand tuples a second",
    )


if __name__ == "__main__":
    main()
