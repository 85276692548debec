"""Data of a lab that the benchmark's report reads beyond the frames: plans, answers and the QEs' elapsed times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare.errors import ForeignFile
from tare.lab.parquet import AGAIN, file_of
from tare.lab.states import QatCState
from tare.measure.records import Outcome


@dataclass(frozen=True, slots=True)
class StoredQE:
    """QE that counts: of its Q@C's last attempt, no warm-up, ended or timed out."""

    number: int  # the benchmark's variant, from 1 in turns of ten
    ok: bool
    elapsed_ms: float | None
    rows: int | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class StoredQatC:
    id: int
    run: int
    query: str
    sql: str  # its variants, at the largest size of its run
    size: int  # tuples of the large relations
    state: QatCState
    said: str | None
    fingerprint: str | None
    plan: Mapping[str, Any] | None
    qes: tuple[StoredQE, ...]  # by number


_COLUMNS = {
    "query": ("id", "name", "sql"),
    "qatc": (
        "id", "query_id", "run_id", "cardinality", "state", "said", "attempt", "plan_fingerprint", "plan",
    ),
    "qe": ("qatc_id", "attempt", "number", "warmup", "outcome", "row_count", "answer_hash", "wall_ns"),
}  # fmt: skip


def qatcs(where: str, runs: Sequence[int]) -> list[StoredQatC]:
    """Read the Q@Cs of these runs, from a lab or the folder of an export, in the order of their ids.

    Raises LabError or ForeignFile."""
    from tare.lab.frames import is_export

    of = _exported(Path(where), runs) if is_export(Path(where)) else _stored(where, runs)
    queries = {row["id"]: row for row in of["query"]}
    attempts = {row["id"]: row["attempt"] for row in of["qatc"]}
    qes: dict[int, list[StoredQE]] = {}
    for row in of["qe"]:
        if _counts(row, attempts):
            qes.setdefault(row["qatc_id"], []).append(_qe(row))
    return [
        StoredQatC(
            id=row["id"],
            run=row["run_id"],
            query=queries[row["query_id"]]["name"],
            sql=queries[row["query_id"]]["sql"],
            size=row["cardinality"],
            state=QatCState(row["state"]),
            said=row["said"],
            fingerprint=row["plan_fingerprint"],
            plan=_plan(row["plan"]),
            qes=tuple(sorted(qes.get(row["id"], ()), key=lambda one: one.number)),
        )
        for row in sorted(of["qatc"], key=lambda row: int(row["id"]))
    ]


def _counts(row: Mapping[str, Any], attempts: Mapping[int, int]) -> bool:
    return (
        row["number"] is not None
        and not row["warmup"]
        and row["attempt"] == attempts.get(row["qatc_id"])
        and row["outcome"] in (Outcome.OK, Outcome.TIMEOUT)
    )


def _qe(row: Mapping[str, Any]) -> StoredQE:
    return StoredQE(
        number=row["number"],
        ok=row["outcome"] == Outcome.OK,
        elapsed_ms=None if row["wall_ns"] is None else row["wall_ns"] / 1e6,
        rows=row["row_count"],
        answer=row["answer_hash"],
    )


def _plan(found: object) -> Mapping[str, Any] | None:
    """An export holds it as text."""
    parsed = json.loads(found) if isinstance(found, str) else found
    return parsed if isinstance(parsed, Mapping) else None


_Rows = dict[str, list[dict[str, Any]]]


def _stored(where: str, runs: Sequence[int]) -> _Rows:
    from sqlalchemy import select

    from tare.lab.schema import metadata
    from tare.lab.store import open_lab

    with open_lab(where) as lab, lab.reading() as connection:
        found: _Rows = {}
        for name, columns in _COLUMNS.items():
            table = metadata.tables[name]
            asked = select(*(table.c[column] for column in columns)).where(table.c.run_id.in_(list(runs)))
            found[name] = [dict(row) for row in connection.execute(asked).mappings()]
        return found


def _exported(folder: Path, runs: Sequence[int]) -> _Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: _Rows = {}
    for name, columns in _COLUMNS.items():
        file = file_of(folder, name)
        try:
            table = pq.read_table(file, columns=list(columns), filters=[("run_id", "in", list(runs))])
        except (OSError, ValueError, pa.ArrowException) as error:
            raise ForeignFile(f"{file} cannot be read: {error}", AGAIN) from error
        found[name] = table.to_pylist()
    return found
