"""A small lab made by hand: QE records of some Q@Cs as the tables that a protocol is given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import sqlalchemy as sa

from tare.lab.frames import Frames
from tare.lab.schema import ELAPSED_PARTS, OVERALL_TICKS, PROCESS_COUNTERS, metadata
from tare.lab.states import QatCState
from tare.measure.records import QE, ProcessUse
from tests.unit.protocol.qe_records import TICK_NS


@dataclass(frozen=True)
class RecordedQatC:
    """A Q@C of query `query`, with the QEs that its lab holds."""

    qes: Sequence[QE]
    query: int = 0
    cardinality: int = 1000
    plan: str = "00aa11bb22cc33dd"
    state: QatCState = QatCState.TIMED


@dataclass(frozen=True)
class RecordedRun:
    qatcs: Sequence[RecordedQatC]
    dbms: str = "postgresql"
    qes_per_qatc: int | None = None  # None: as many as the largest Q@C has
    tick_ns: int = TICK_NS
    errors: dict[int, str] = field(default_factory=dict)  # of queries that this DBMS refused


def lab_of(*runs: RecordedRun, connection: Any = None, shuffle: Any = None) -> Frames:
    """Frames over these runs; `shuffle` may put the rows of each table into another order."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("run", "query", "qatc", "qe", "process")}
    for run_id, run in enumerate(runs, start=1):
        _run(rows, run_id, run)
    if shuffle is not None:
        for some in rows.values():
            shuffle(some)
    connection = connection or ibis.duckdb.connect()
    return Frames(**{name: _table(name, some, connection) for name, some in rows.items()})


def _run(rows: dict[str, list[dict[str, Any]]], run_id: int, run: RecordedRun) -> None:
    planned = run.qes_per_qatc or max((len(one.qes) for one in run.qatcs), default=10)
    rows["run"].append(
        {
            "id": run_id, "uuid": f"run-{run_id}", "experiment": "by hand", "scenario": "onepass",
            "dbms": run.dbms, "dbms_version": "1", "tick_ns": run.tick_ns, "qes_per_qatc": planned,
            "state": "done", "cache": "warm", "online_cpus": 1, "deviations": "[]",
        }
    )  # fmt: skip
    queries = sorted({one.query for one in run.qatcs} | set(run.errors))
    ids = {number: len(rows["query"]) + place for place, number in enumerate(queries, start=1)}
    for number in queries:
        rows["query"].append(
            {
                "id": ids[number], "run_id": run_id, "number": number, "name": f"q{number}", "sql": "SELECT 1",
                "error": run.errors.get(number),
            }
        )  # fmt: skip
    for one in run.qatcs:
        qatc_id = len(rows["qatc"]) + 1
        rows["qatc"].append(
            {
                "id": qatc_id, "query_id": ids[one.query], "run_id": run_id, "visit": qatc_id,
                "cardinality": one.cardinality, "state": one.state.value, "attempt": 1,
                "plan_fingerprint": one.plan, "query": f"q{one.query}", "query_number": one.query,
                "dbms": run.dbms,
            }
        )  # fmt: skip
        for number, qe in enumerate(one.qes, start=1):
            _qe(rows, qe, number, qatc_id, ids[one.query], run_id, run, one.cardinality)


def _qe(
    rows: dict[str, list[dict[str, Any]]], qe: QE, number: int, qatc_id: int, query_id: int, run_id: int,
    run: RecordedRun, cardinality: int,
) -> None:  # fmt: skip
    qe_id, elapsed = len(rows["qe"]) + 1, qe.elapsed
    rows["qe"].append(
        {
            "id": qe_id, "qatc_id": qatc_id, "run_id": run_id, "run_order": len(rows["qe"]), "attempt": 1,
            "number": number, "warmup": False, "outcome": qe.outcome.value,
            "plan_fingerprint": qe.plan_fingerprint, "wall_ns": elapsed.wall_ns if elapsed else None,
            **{f"leader_{part}": getattr(elapsed, part) if elapsed else None for part in ELAPSED_PARTS},
            "leader_why": json.dumps({part: lack.as_json() for part, lack in elapsed.why.items()}) if elapsed else None,
            "leader_pid": qe.leader_pid, "leader_how": qe.leader_how,
            **{f"overall_{mode}": qe.machine.total[mode] if qe.machine else None for mode in OVERALL_TICKS},
            "overall_forks": qe.machine.forks if qe.machine else None,
            "overall_context_switches": qe.machine.context_switches if qe.machine else None,
            "online_cpus": qe.online_cpus, "exits_lost": qe.exits_lost,
            "unaccounted_births": qe.unaccounted_births, "query_id": query_id, "cardinality": cardinality,
            "dbms": run.dbms, "tick_ns": run.tick_ns, "cache": "warm",
        }
    )  # fmt: skip
    rows["process"].extend(_process(p, qe_id, qatc_id, run.dbms) for p in qe.processes)


def _process(p: ProcessUse, qe_id: int, qatc_id: int, dbms: str) -> dict[str, Any]:
    own = dbms if p.role.value in ("query", "utility") else None
    return {
        "qe_id": qe_id, "qatc_id": qatc_id, "pid": p.pid, "comm": p.comm, "role": p.role.value,
        "dbms": p.comm if p.comm in ("mariadb", "postgresql") else own, "fate": p.fate.value,
        "threads": p.threads, **{name: getattr(p, name) for name in PROCESS_COUNTERS},
    }  # fmt: skip


_ADDED = {
    "run": {"experiment": "string", "scenario": "string", "dbms": "string", "dbms_version": "string"},
    "qatc": {"query": "string", "query_number": "int64", "dbms": "string"},
    "qe": {
        "query_id": "int64", "cardinality": "int64", "dbms": "string", "tick_ns": "int64", "cache": "string",
    },
    "process": {"qatc_id": "int64"},
}  # fmt: skip


def _table(name: str, rows: list[dict[str, Any]], connection: Any) -> ir.Table:
    types = {column.name: _type(column) for column in metadata.tables[name].columns} | _ADDED.get(name, {})
    known = [column for column in types if not rows or column in rows[0]]
    schema = ibis.schema({column: types[column] for column in known})
    columns = {column: [row[column] for row in rows] for column in known}
    table = pa.table(columns, schema=schema.to_pyarrow())
    if connection.name != "duckdb":
        return connection.create_dataframe(table.to_pandas(), schema)
    connection.con.register(f"{name}_", table)
    return connection.table(f"{name}_")


def _type(column: sa.Column[Any]) -> str:
    if isinstance(column.type, sa.Boolean):
        return "boolean"
    return "int64" if isinstance(column.type, sa.Integer) else "string"
