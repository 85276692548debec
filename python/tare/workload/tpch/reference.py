"""Reference answers: those of DuckDB, on the rows that tpchgen-cli makes at the same scale."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.experiment.target import make_file
from tare.workload.tpch.data import Format, write_files
from tare.workload.tpch.loading import load
from tare.workload.tpch.queries import query

REFERENCE = "DuckDB"
LARGEST_SCALE = 1.0
"""Scale up to which answers are compared: there, the reference takes up to 2 GB of the disk."""

RELATIVE, ABSOLUTE = 1e-6, 0.01
"""Differences of numbers that count as equal: some DBMSs calculate decimals in floating point."""

Row = tuple[float | str, ...]
"""Values of a row as they are compared."""


@contextmanager
def reference(scale: float) -> Iterator[Session]:
    """Open a session on a DuckDB that has the rows of the scale. It ends with the block.

    Raises MissingDriver, and what `write_files` and `load` raise."""
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
    """Return the first difference of a session's answer from the reference's, in words; None where they agree.

    `session`: of the DBMS to check; `source`: of the reference. Raises QueryTimeout, StatementFailed and ServerLost."""
    answer = _answer(session, number, scale, timeout_s)
    return first_difference(answer, _answer(source, number, scale, None))


def first_difference(answer: Iterable[Sequence[object]], right: Iterable[Sequence[object]]) -> str | None:
    """Return the first difference of an answer from the right one, in words; None where they agree.

    Numbers may differ by `ABSOLUTE` or by `RELATIVE`. Padding and the order of rows are ignored."""
    rows, expected = (sorted(map(_plain, one), key=_texts_first) for one in (answer, right))
    if len(rows) != len(expected):
        return f"{len(rows):,} row{'' if len(rows) == 1 else 's'} instead of {len(expected):,}"
    for place, (row, other) in enumerate(zip(rows, expected, strict=True), 1):
        for value, expected_value in zip_longest(row, other):
            if not _is_close(value, expected_value):
                return f"{value!r} instead of {expected_value!r} in row {place:,} of the sorted answer"
    return None


def _answer(session: Session, number: int, scale: float, timeout_s: float | None) -> list[Sequence[object]]:
    prepared = session.prepare(query(number, session.server.dbms, scale))
    try:
        prepared.limit(timeout_s)
        return list(prepared.execute(timeout_s).rows())
    finally:
        prepared.close()


def _plain(row: Sequence[object]) -> Row:
    """Return the values without padding, and each number as a float: DBMSs differ in both."""
    return tuple(_number_or_text(str(value).strip()) for value in row)


def _number_or_text(text: str) -> float | str:
    with suppress(ValueError):
        return float(text)
    return text


def _texts_first(row: Row) -> tuple[list[str], list[float]]:
    """Sort key that depends on no collation, and on numbers only where all texts are equal."""
    return [value for value in row if isinstance(value, str)], [
        value for value in row if isinstance(value, float)
    ]


def _is_close(value: float | str | None, expected: float | str | None) -> bool:
    if isinstance(value, float) and isinstance(expected, float):
        return math.isclose(value, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return value == expected
