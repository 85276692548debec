"""Facts of a lab's runs that no analysis reads: specifications, settings, machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare.errors import ForeignFile


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a run. `run` is the lab's row of it."""

    run: Mapping[str, Any]
    experiment: Mapping[str, Any]
    dbms: Mapping[str, Any]
    machine: Mapping[str, Any]


def facts_of(where: str, runs: Sequence[int]) -> list[Facts]:
    """Read the facts of these runs, in this order, from a lab or the folder of an export.

    Raises LabError or ForeignFile."""
    from tare.lab.frames import is_export

    tables = _exported(Path(where)) if is_export(Path(where)) else _stored(where)
    by_id = {name: {row["id"]: row for row in rows} for name, rows in tables.items()}
    return [
        Facts(
            run,
            by_id["experiment"][run["experiment_id"]],
            by_id["dbms"][run["dbms_id"]],
            by_id["machine"][run["machine_id"]],
        )
        for run in (by_id["run"][key] for key in runs)
    ]


_TABLES = ("run", "experiment", "dbms", "machine")
_JSON = ("settings", "facts", "means", "deviations")


def _stored(where: str) -> dict[str, list[dict[str, Any]]]:
    from sqlalchemy import select

    from tare.lab.schema import metadata
    from tare.lab.store import open_lab

    with open_lab(where) as lab, lab.reading() as connection:
        return {
            name: [dict(row) for row in connection.execute(select(metadata.tables[name])).mappings()]
            for name in _TABLES
        }


def _exported(folder: Path) -> dict[str, list[dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: dict[str, list[dict[str, Any]]] = {}
    for name in _TABLES:
        file = folder / f"{name}.parquet"
        try:
            found[name] = [_parsed(row) for row in pq.read_table(file).to_pylist()]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise ForeignFile(
                f"{file} cannot be read: {error}", "export the runs again with `tare lab export`"
            ) from error
    return found


def _parsed(row: dict[str, Any]) -> dict[str, Any]:
    """JSON columns are text in an export."""
    return {
        name: json.loads(value) if name in _JSON and isinstance(value, str) else value
        for name, value in row.items()
    }
