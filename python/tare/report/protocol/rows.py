"""A protocol's times and exclusions as files: CSV or Parquet, by the file's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from tare.errors import UsageError
from tare.files import write_bytes
from tare.protocol.outcome import Outcome

FORMS = (".csv", ".parquet")


def check_form(file: str) -> None:
    """Raises UsageError for a name that says neither CSV nor Parquet."""
    if Path(file).suffix.lower() not in FORMS:
        raise UsageError(f"{file}: neither CSV nor Parquet by its name", "name it .csv or .parquet")


def write_times(outcomes: Sequence[Outcome], file: str) -> None:
    """A row for each Q@C at start and protocol. Raises ExportFailed."""
    _write(
        [
            (one.protocol, one.times.order_by("qatc_id").to_pyarrow())
            for one in outcomes
            if one.times is not None
        ],
        file,
    )


def write_exclusions(outcomes: Sequence[Outcome], file: str) -> None:
    """A row for each rule that a QE or a Q@C was dropped by, and protocol. Raises ExportFailed."""
    order = ("qatc_id", "qe_id", "step", "number")
    _write(
        [
            (one.protocol, one.exclusions.order_by(*order).to_pyarrow())
            for one in outcomes
            if one.exclusions is not None
        ],
        file,
    )


def _write(tables: Sequence[tuple[str, pa.Table]], file: str) -> None:
    named = [table.add_column(0, "protocol", pa.array([name] * len(table))) for name, table in tables]
    whole = pa.concat_tables(named, promote_options="permissive") if named else pa.table({"protocol": []})
    sink = pa.BufferOutputStream()
    if Path(file).suffix.lower() == ".csv":
        csv.write_csv(whole, sink)
    else:
        parquet.write_table(whole, sink)
    write_bytes(Path(file), sink.getvalue().to_pybytes())
