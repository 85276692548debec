"""Loading TPC-C: rows per second, from an empty database to one that is ready for a run."""

from __future__ import annotations

import math
import statistics

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import DBMSES, empty, load

BARS = {"postgresql": 150_000.0, "mariadb": 60_000.0}
SMALL = ("postgresql", "sqlite")


def main() -> None:
    asked = arguments(__doc__ or "", warehouses=4, rounds=3, db="")
    warehouses, rounds = (1, 1) if asked.small else (asked.warehouses, asked.rounds)
    names = (asked.db,) if asked.db else SMALL if asked.small else DBMSES
    report([figure for name in names for figure in measure(name, warehouses, rounds)], asked.json)


def measure(dbms: str, warehouses: int, rounds: int) -> list[Figure]:
    with empty(dbms) as url:
        loads = [load(url, warehouses) for _ in range(rounds)]
    rows = {sum(table.rows for table in one.tables) for one in loads}
    assert len(rows) == 1, f"one seed, and yet {rows} rows"
    count = rows.pop()
    whole = [count / one.all_ns * 1e9 for one in loads]
    bare = [count / one.rows_ns * 1e9 for one in loads]
    own_us = loads[-1].own.cpu_ns / count / 1e3
    what = f"{dbms}: TPC-C, warehouses {warehouses}, {count:,} rows"
    return [
        Figure(
            f"{what}: rows, keys, indexes and statistics",
            statistics.median(whole) / 1e3,
            "thousand rows/s",
            BARS[dbms] / 1e3 if dbms in BARS else -math.inf,
            at_most=False,
            spread=f"each of {rounds}: {_listed(whole)}; the driver's CPU {own_us:.2f} µs a row",
        ),
        Figure(
            f"{what}: rows alone",
            statistics.median(bare) / 1e3,
            "thousand rows/s",
            math.inf,
            spread=f"each of {rounds}: {_listed(bare)}",
        ),
    ]


def _listed(rates: list[float]) -> str:
    return " ".join(f"{rate / 1e3:.0f}" for rate in rates)


if __name__ == "__main__":
    main()
