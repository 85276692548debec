"""Outcomes of protocols as files: all as JSON; times and exclusions as CSV or Parquet, by the file's name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from tare.errors import UsageError
from tare.files import write_bytes
from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
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


SCHEMA_NAME = "tare-protocol/1"


def render(outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]]) -> str:
    """Return checks, drop tables, post checks, precision and every Q@C's time as JSON.

    `fewer`: by protocol, where it was requested."""
    document = {
        "schema": SCHEMA_NAME,
        "protocols": [_outcome(one, fewer.get(one.protocol, ())) for one in outcomes],
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _outcome(outcome: Outcome, fewer: Sequence[Fewer]) -> Mapping[str, Any]:
    return {
        "protocol": outcome.protocol,
        "title": outcome.title,
        "citation": outcome.citation,
        "tick_ns": outcome.tick_ns,
        "min_qes": outcome.min_qes,
        "checks": [{**asdict(one), "level": one.level.value, "share": one.share} for one in outcome.checks],
        "accepted": list(outcome.accepted),
        "stopped": outcome.stopped,
        "remaining": [asdict(one) for one in outcome.remaining],
        "post": [asdict(one) for one in outcome.post],
        "precision": asdict(outcome.precision),
        "deviations": list(outcome.deviations),
        "coefficients": {dbms: dict(of) for dbms, of in outcome.coefficients.items()},
        "fewer": [{**asdict(one), "share": one.share} for one in fewer],
        "times": None if outcome.times is None else _rows(outcome),
    }


def _rows(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.times is not None
    return rows(outcome.times.order_by("qatc_id"))
