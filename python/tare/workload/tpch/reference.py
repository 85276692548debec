"""Answers of a second source: DuckDB on the rows that tpchgen-cli writes at the same scale."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.experiment.target import make_file
from tare.workload.tpch.data import Format, write_files
from tare.workload.tpch.loading import load
from tare.workload.tpch.queries import query

SECOND_SOURCE = "DuckDB"
LARGEST_SCALE = 1.0
"""Scale up to which the second source needs some seconds, and up to 2 GB of the disk."""

RELATIVE, ABSOLUTE = 1e-6, 0.01
"""Differences of numbers that count as equal: some DBMSs calculate decimals in floating point."""

Rows = list[tuple[float | str, ...]]


@contextmanager
def reference(scale: float) -> Iterator[Session]:
    """Session on the second source, which ends with the block. Raises MissingPackage and what `write_files` raises."""
    with tempfile.TemporaryDirectory(prefix="tare-tpch-") as name:
        write_files(Path(name), scale, Format.CSV)
        file = Path(name, "reference.duckdb")
        make_file(file, "duckdb")
        url = f"duckdb:///{file}"
        session = find(url).connect(url, allow_writes=True)
        try:
            load(session, Path(name))
            yield session
        finally:
            session.close()


def difference(
    session: Session, source: Session, number: int, scale: float, timeout_s: float | None
) -> str | None:
    """Difference between the DBMS's answer to the query and the second source's, in words; None where they agree.

    Raises QueryTimeout and StatementFailed."""
    rows = _answer(session, number, scale, timeout_s)
    expected = _answer(source, number, scale, None)
    if len(rows) != len(expected):
        return f"{len(rows):,} rows, and {len(expected):,} of {SECOND_SOURCE}"
    for place, (row, other) in enumerate(zip(rows, expected, strict=True), 1):
        for value, wanted in zip_longest(row, other):
            if not _is_close(value, wanted):
                return f"{value!r} in row {place:,} of the sorted answer, and {wanted!r} of {SECOND_SOURCE}"
    return None


def _answer(session: Session, number: int, scale: float, timeout_s: float | None) -> Rows:
    prepared = session.prepare(query(number, session.server.dbms, scale))
    try:
        return sorted((_plain(row) for row in prepared.execute(timeout_s).rows()), key=_texts_first)
    finally:
        prepared.close()


def _plain(row: Sequence[object]) -> tuple[float | str, ...]:
    """Values without what differs among DBMSs: padding, and the types of numbers."""
    return tuple(_number_or_text(str(value).strip()) for value in row)


def _number_or_text(text: str) -> float | str:
    with suppress(ValueError):
        return float(text)
    return text


def _texts_first(row: tuple[float | str, ...]) -> tuple[list[str], list[float]]:
    """Order that small differences of numbers rarely change, and that no collation does."""
    return [value for value in row if isinstance(value, str)], [
        value for value in row if isinstance(value, float)
    ]


def _is_close(value: float | str | None, wanted: float | str | None) -> bool:
    if isinstance(value, float) and isinstance(wanted, float):
        return math.isclose(value, wanted, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return value == wanted
