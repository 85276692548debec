"""A lab of the benchmark filled by hand: what no quick run shows. Two DBMSes, both generations, three sizes.

PostgreSQL has a hash index and SQLite none; SQLite's q19 timed out, its q11 failed, one answer of its q12 differs,
and its joins without indexes grow with the square of the size.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from tare.lab import schema
from tare.lab.store import open_lab
from tare.workload.wisconsin.catalogue import catalogue
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.query import Class, WisconsinQuery

MS = 1_000_000
SIZES = {Generation.Y1983: (10_000,), Generation.Y1993: (100_000, 31_600, 10_000)}
SHARE = {"1pct": 0.01, "10pct": 0.1, "20pct": 0.2, "50pct": 0.5, "100pct": 1.0}


def make_lab(path: Path, *, qes: int = 10, seed: int = 1, said: str = "loaded in 0.4 s") -> Path:
    """Writes a SQLite lab of four runs. `said`: a sentence among the deviations of each."""
    with open_lab(str(path), create=True) as lab, lab.writing() as connection:
        _Filler(connection, qes, random.Random(seed), said).fill()
    return path


def node(operator: str, *children: Mapping[str, Any], **detail: str) -> dict[str, Any]:
    named = {key.replace("_", " "): value for key, value in detail.items()}
    return {"operator": operator, "detail": named, "children": list(children)}


class _Filler:
    def __init__(self, lab: Connection, qes: int, draw: random.Random, said: str):
        self.lab, self.qes, self.draw, self.said = lab, qes, draw, said
        # Thousands of rows, each table's written at once.
        self.rows: dict[Any, list[dict[str, Any]]] = {schema.qe: [], schema.process: []}

    def put(self, table: Any, **row: Any) -> int:
        key = self.lab.execute(insert(table).values(**row)).inserted_primary_key
        return int(key[0]) if key else 0

    def keep(self, table: Any, **row: Any) -> None:
        self.rows[table].append(row)

    def fill(self) -> None:
        self.describe()
        for table, rows in self.rows.items():
            self.lab.execute(insert(table), rows)

    def describe(self) -> None:
        machine = self.put(
            schema.machine, digest="m",
            facts={
                "cpu_model": "AMD EPYC 7B13", "online_cpus": 1, "usable_cpus": 1, "memory_bytes": 8 << 30,
                "hypervisor": "KVM", "kernel": "6.1.0-28-amd64", "tare": "0.1.0",
            },
        )  # fmt: skip
        dbmses = {
            name: self.put(schema.dbms, name=name, version=version, settings={}, digest=name)
            for name, version in (("postgresql", "18.1"), ("sqlite", "3.51.1"))
        }
        for generation in Generation:
            toml = f'name = "wisconsin_{generation}"\n\n[wisconsin]\ngeneration = "{generation}"\n'
            experiment = self.put(
                schema.experiment, name=f"wisconsin_{generation}", scenario="exhaustive", description="",
                specification=toml, specification_hash=f"{generation:0>64}", created_at="2025-03-01T09:00:00+00:00",
            )  # fmt: skip
            for name, dbms in dbmses.items():
                self.run(experiment, dbms, machine, name, generation)

    def run(self, experiment: int, dbms: int, machine: int, name: str, generation: Generation) -> None:
        run = self.put(
            schema.run, experiment_id=experiment, dbms_id=dbms, machine_id=machine, uuid=f"{name}{generation:0<28}",
            state="done", said=None, url=f"{name}://localhost/w", started_at="2025-03-01T09:00:00+00:00",
            ended_at="2025-03-01T11:30:00+00:00", heartbeat_at="2025-03-01T11:30:00+00:00", executor=None,
            cache="warm", qes_per_qatc=self.qes, timeout_ns=60_000 * MS, tick_ns=10 * MS, online_cpus=1,
            tier="bpf", tare="0.1.0", means={}, deviations=[self.said],
        )  # fmt: skip
        self.order = 0
        for number, query in enumerate(catalogue(generation)):
            missing = name == "sqlite" and query.organisation is Organisation.HASH
            key = self.put(
                schema.query, run_id=run, number=number, name=query.name, sql="SELECT 1",
                error="SQLite has no hash index" if missing else None,
            )  # fmt: skip
            if not missing:
                for visit, size in enumerate(SIZES[generation]):
                    self.qatc(run, key, query, visit, size, name)

    def qatc(self, run: int, key: int, query: WisconsinQuery, visit: int, size: int, dbms: str) -> None:
        failed = dbms == "sqlite" and query.name == "q11"
        qatc = self.put(
            schema.qatc, query_id=key, run_id=run, visit=visit, cardinality=size, attempt=1,
            state="failed" if failed else "timed", said="no space left on device" if failed else None,
            plan_fingerprint="0123456789abcdef", plan=plan(query, dbms),
        )  # fmt: skip
        if failed:
            return
        base = cost_ms(query, size, dbms)
        for number in range(1, self.qes + 1):
            late = dbms == "sqlite" and query.name == "q19" and number > 3
            answer = "f" if dbms == "sqlite" and query.name == "q12" and number == 4 else "e"
            self.qe(run, qatc, number, base * (1 + self.draw.gauss(0, 0.012)), late, answer * 32)

    def qe(self, run: int, qatc: int, number: int, wall: float, late: bool, answer: str) -> None:
        cpu, queue = wall * 0.9, wall * 0.1
        leader = {
            "cpu_ns": cpu, "user_ns": cpu * 0.9, "system_ns": cpu * 0.1, "interrupt_ns": 0, "block_io_ns": 0,
            "run_queue_ns": queue, "sleep_ns": 0, "steal_ns": 0, "residue_ns": 0,
        }  # fmt: skip
        key = len(self.rows[schema.qe]) + 1
        self.keep(
            schema.qe,
            id=key, qatc_id=qatc, run_id=run, run_order=self.order, attempt=1, number=number, warmup=False,
            outcome="timeout" if late else "ok", error="ran into its time-out of 60 s" if late else None,
            started_at=f"2025-03-01T09:00:00.{self.order:06d}+00:00", plan_fingerprint="0123456789abcdef",
            row_count=None if late else 1, answer_hash=None if late else answer, wall_ns=round(wall * MS),
            leader_why={}, leader_pid=1000, leader_how="told", instructions=None,
            **{f"leader_{part}": round(ms * MS) for part, ms in leader.items()},
            **{f"overall_{part}": 0 for part in schema.OVERALL_TICKS},
            overall_forks=0, overall_context_switches=50, online_cpus=1, births=0, exits=0, exits_lost=0,
            unaccounted_births=0,
        )  # fmt: skip
        self.order += 1
        counters: dict[str, int] = dict.fromkeys(schema.PROCESS_COUNTERS, 0)
        counters |= {
            "run_ns": round(cpu * MS), "user_ns": round(cpu * 0.9 * MS), "system_ns": round(cpu * 0.1 * MS),
            "user_ticks": round(cpu / 10), "run_queue_ns": round(queue * MS), "slices": 4,
        }  # fmt: skip
        self.keep(
            schema.process,
            qe_id=key, pid=1000, ppid=1, comm="dbms", cmdline="dbms: at work", role="query", dbms=None,
            fate="steady", kernel=False, cpu=0, threads=1, **counters,
        )  # fmt: skip


def cost_ms(query: WisconsinQuery, size: int, dbms: str) -> float:
    """Made up: a scan is linear, an index's share of it too, and SQLite's joins of heaps are quadratic."""
    scan = 4.0 * size / 10_000
    pace = 1.0 if dbms == "postgresql" else 1.4
    heap = query.organisation is Organisation.HEAP
    if query.klass is Class.UPDATE:
        price = 0.4 if query.operation == "append" else scan
        return pace * (price if heap else 0.6)
    if query.klass is Class.JOIN:
        square = dbms == "sqlite" and heap
        return pace * (30.0 * (size / 10_000) ** 2 if square else scan * (5 if heap else 2))
    if query.klass is Class.PROJECTION:
        return pace * scan * 3
    if query.operation == "min_scalar":
        return pace * (scan if heap else 0.1)
    if query.klass is Class.AGGREGATE:
        return pace * scan * (1 if heap else 1.3)
    share = next((of for name, of in SHARE.items() if name in query.operation), 1 / size)
    if heap:
        return pace * scan * (1 + 3 * share)
    return pace * (0.05 + scan * share * (3 if query.organisation is Organisation.CLUSTERED else 12))


def plan(query: WisconsinQuery, dbms: str) -> dict[str, Any]:
    """A plan like the DBMS's own, with what the readers of access paths look for."""
    return _postgresql(query) if dbms == "postgresql" else _sqlite(query)


def _postgresql(query: WisconsinQuery) -> dict[str, Any]:
    attribute = query.attribute or "unique2"
    if query.organisation is Organisation.HEAP or query.klass is Class.PROJECTION:
        scan = node("Seq Scan", Relation_Name="tenktup")
    elif query.operation == "min_scalar":
        scan = node("Index Only Scan", Relation_Name="tenktup", Index_Name="tenktup_unique2")
    else:
        scan = node("Index Scan", Relation_Name="tenktup", Index_Name=f"tenktup_{attribute}")
    if query.klass is Class.JOIN:
        return node("Hash Join", scan, node("Hash", scan))
    if query.klass is Class.PROJECTION or "partitions" in query.operation:
        return node("Aggregate", scan, Strategy="Hashed")
    return scan


def _sqlite(query: WisconsinQuery) -> dict[str, Any]:
    attribute = query.attribute or "unique2"
    using = (
        "INTEGER PRIMARY KEY (rowid=?)"
        if attribute == "unique2"
        else f"INDEX tenktup_{attribute} ({attribute}=?)"
    )
    scan = node("SCAN", on="tenktup")
    if query.organisation is not Organisation.HEAP:
        scan = node("SEARCH", on="tenktup" if query.operation == "min_scalar" else f"tenktup USING {using}")
    if query.klass is Class.JOIN:
        return node("QUERY PLAN", scan, scan)
    if query.klass is Class.PROJECTION:
        return node("QUERY PLAN", scan, node("USE TEMP B-TREE FOR DISTINCT"))
    return node("QUERY PLAN", scan)
