"""TPC-H's tables in a database: complete at a scale, missing, or other tables of their names."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tare.dbms.base import Session
from tare.errors import StatementFailed, UsageError
from tare.workload.tpch.data import Format, write_files
from tare.workload.tpch.loading import load
from tare.workload.tpch.schema import TABLES

_ROWS_AT_1 = {
    "supplier": 10_000,
    "part": 200_000,
    "partsupp": 800_000,
    "customer": 150_000,
    "orders": 1_500_000,
}
"""Rows at scale 1 of the tables that grow with the scale (§4.2.5.1), without lineitem."""

LINES_OF_AN_ORDER = (3.5, 4.5)
"""Bounds of the mean, which is about 4: the specification draws 1 to 7 lines for each order."""


def expected_rows(scale: float) -> Mapping[str, range]:
    """Row counts that each table may have."""
    exact = {"region": 5, "nation": 25}
    exact |= {name: int(round(rows * scale, 6)) for name, rows in _ROWS_AT_1.items()}
    low, high = (int(exact["orders"] * lines) for lines in LINES_OF_AN_ORDER)
    return {name: range(rows, rows + 1) for name, rows in exact.items()} | {"lineitem": range(low, high + 1)}


def ensure_loaded(session: Session, scale: float, report: Callable[[str], None]) -> None:
    """Load the tables where none of them exists. A load that fails leaves none. `report` receives what is done next.

    Raises UsageError for tables that are not those of the scale, and what `write_files` and `load` raise."""
    present = row_counts(session)
    if present:
        refuse_other_scale(present, scale)
        return
    with tempfile.TemporaryDirectory(prefix="tare-tpch-") as folder:
        report(f"making the rows of TPC-H at scale {scale:g}")
        write_files(Path(folder), scale, Format.CSV)
        report("loading the rows")
        load(session, Path(folder))


def refuse_other_scale(present: Mapping[str, int], scale: float) -> None:
    """Raise UsageError unless each table has the scale's number of rows."""
    expected = expected_rows(scale)
    wrong = [
        f"{table.name} has {present[table.name]:,} rows"
        if table.name in present
        else f"{table.name} is missing or cannot be read"
        for table in TABLES
        if present.get(table.name, -1) not in expected[table.name]
    ]
    if wrong:
        raise UsageError(
            f"the database has tables with TPC-H's names, but not those of scale {scale:g}: {', '.join(wrong)}",
            "give the --scale that they were loaded with, or an empty database",
        )


def row_counts(session: Session) -> dict[str, int]:
    """Number of rows of each table that can be read."""
    counts: dict[str, int] = {}
    for table in TABLES:
        with suppress(StatementFailed):  # no such table
            counting = session.prepare(f"SELECT count(*) FROM {table.name}")
            [(count,)] = counting.execute(None).rows()
            counting.close()
            counts[table.name] = int(str(count))
    return counts
