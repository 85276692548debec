"""A lab filled by hand: two DBMSes, a few hundred QEs, and everything that a report has to tell of.

MariaDB cannot run the last query, one Q@C failed, one query is too short for ticks; daemons take over
some QEs, some ran into their time-out, and one query gets slower with fewer rows.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from tare.lab import schema
from tare.lab.store import open_lab

MS = 1_000_000
TICK = 10 * MS
CARDINALITIES = (200_000, 160_000, 120_000, 80_000, 40_000)
BASE_MS = {"join": 900.0, "scan": 420.0, "sort": 640.0, "point": 9.0, "window": 500.0}

TOML = """\
name = "sample"
description = "two DBMSes, five queries"
scenario = "exhaustive"
qes = 10

[[dbms]]
name = "pg"
start = "postgresql"

[[tables]]
name = "ft_HT1"
cardinality = 200000
minimum = 40000
step = 40000
"""


def make_lab(
    path: Path, *, names: dict[str, str] | None = None, cpus: int = 1, qes: int = 10, seed: int = 1
) -> Path:
    """Writes a SQLite lab. `names` replaces the names of queries (and so their SQL's comment)."""
    with open_lab(str(path), create=True) as lab, lab.writing() as connection:
        _Filler(connection, names or {}, cpus, qes, random.Random(seed)).fill()
    return path


class _Filler:
    def __init__(self, lab: Connection, names: dict[str, str], cpus: int, qes: int, draw: random.Random):
        self.lab, self.names, self.cpus, self.qes, self.draw = lab, names, cpus, qes, draw
        # Thousands of rows, each table's written at once: the tables of QEs, of processes and of CPUs.
        self.rows: dict[Any, list[dict[str, Any]]] = {schema.qe: [], schema.process: [], schema.cpu: []}

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
        experiment = self.put(
            schema.experiment, name="sample", scenario="exhaustive", description="two DBMSes, five queries",
            specification=TOML, specification_hash="a" * 64, created_at="2025-03-01T09:00:00+00:00",
        )  # fmt: skip
        machine = self.put(
            schema.machine, digest="m",
            facts={
                "cpu_model": "AMD EPYC 7B13", "online_cpus": self.cpus, "usable_cpus": self.cpus,
                "memory_bytes": 8 << 30, "hypervisor": "KVM", "kernel": "6.1.0-28-amd64",
                "operating_system": "Debian GNU/Linux 12 (bookworm)", "python": "3.11.2", "tare": "0.1.0",
            },
        )  # fmt: skip
        for name, version, settings, pace in (
            ("postgresql", "18.1", {"shared_buffers": "128MB", "io_method": "sync"}, 1.0),
            ("mariadb", "10.11.14", {"innodb_buffer_pool_size": "134217728"}, 1.7),
        ):
            dbms = self.put(schema.dbms, name=name, version=version, settings=settings, digest=name)
            self.run(experiment, dbms, machine, name, pace)

    def run(self, experiment: int, dbms: int, machine: int, name: str, pace: float) -> None:
        run = self.put(
            schema.run, experiment_id=experiment, dbms_id=dbms, machine_id=machine, uuid=f"{name:0<32}",
            state="done", said=None, url=f"{name}://tare@localhost/lab", started_at="2025-03-01T09:00:00+00:00",
            ended_at="2025-03-01T11:30:00+00:00", heartbeat_at="2025-03-01T11:30:00+00:00", executor=None,
            cache="cold", qes_per_qatc=self.qes, timeout_ns=5000 * MS, tick_ns=TICK, online_cpus=self.cpus,
            tier="bpf", tare="0.1.0", means={"instructions": "the hypervisor shows no counter of instructions"},
            deviations=["cron was left running"] if name == "mariadb" else [],
        )  # fmt: skip
        self.order = 0
        for number, (query, base) in enumerate(BASE_MS.items()):
            shown = self.names.get(query, query)
            missing = name == "mariadb" and query == "window"
            key = self.put(
                schema.query, run_id=run, number=number, name=shown, sql=f"SELECT count(*) FROM ft_HT1 -- {shown}",
                error=f"syntax error near '{shown}'" if missing else None,
            )  # fmt: skip
            if not missing:
                for visit, cardinality in enumerate(CARDINALITIES):
                    self.qatc(run, key, query, visit, cardinality, base * pace, name)

    def qatc(
        self, run: int, query: int, name: str, visit: int, cardinality: int, base: float, dbms: str
    ) -> None:
        failed = dbms == "postgresql" and name == "sort" and visit == 4
        key = self.put(
            schema.qatc, query_id=query, run_id=run, visit=visit, cardinality=cardinality, attempt=1,
            state="failed" if failed else "timed", said="no space left on device" if failed else None,
            plan_fingerprint="0123456789abcdef", plan={"operator": "Aggregate", "detail": {}, "children": []},
        )  # fmt: skip
        if failed:
            return
        share = cardinality / CARDINALITIES[0]
        if name == "scan" and visit == 2:
            share *= 1.6  # slower than at more rows
        for number in range(1, self.qes + 1):
            self.qe(run, key, number, base * share, dbms)

    def qe(self, run: int, qatc: int, number: int, base: float, dbms: str) -> None:
        draw = self.draw
        cpu = base * 0.7 * (1 + draw.gauss(0, 0.012))
        io = base * 0.3 * (1 + draw.gauss(0, 0.04))
        noise = draw.random()
        other = base * 1.2 if noise < 0.03 else draw.uniform(0, 12)
        queue, sleep = draw.uniform(0, 3) + other * 0.4, draw.uniform(0, 2)
        residue = draw.gauss(0, 0.05)
        late = noise > 0.985
        wall = 5000.0 if late else cpu + io + queue + sleep + residue
        user, system = round(cpu * 0.85 / 10), round(cpu * 0.15 / 10)
        waited = round(io / 10)
        iowait = min(waited, round(io / 10 * draw.uniform(0.6, 0.9))) + (4 if 0.5 < noise < 0.515 else 0)
        helpers = round(other / 10)
        overall = {
            "user": user + helpers, "nice": 0, "system": system + 1, "iowait": iowait, "irq": 0, "softirq": 0,
            "steal": 0, "guest": 0, "guest_nice": 0,
        }  # fmt: skip
        overall["idle"] = max(0, round(wall / 10) * self.cpus - sum(overall.values()))
        leader = {
            "cpu_ns": cpu, "user_ns": cpu * 0.85, "system_ns": cpu * 0.15, "interrupt_ns": 0, "block_io_ns": io,
            "run_queue_ns": queue, "sleep_ns": sleep, "steal_ns": 0,
            "residue_ns": wall - cpu - io - queue - sleep,
        }  # fmt: skip
        key = len(self.rows[schema.qe]) + 1
        self.keep(
            schema.qe,
            id=key, qatc_id=qatc, run_id=run, run_order=self.order, attempt=1, number=number, warmup=False,
            outcome="timeout" if late else "ok", error="ran into its time-out of 5 s" if late else None,
            started_at=f"2025-03-01T09:00:00.{self.order:06d}+00:00", plan_fingerprint="0123456789abcdef",
            row_count=1, answer_hash="f" * 32, wall_ns=round(wall * MS), leader_why={}, leader_pid=1000,
            leader_how="pg_backend_pid()" if dbms == "postgresql" else "processlist", instructions=None,
            **{f"leader_{part}": round(ms * MS) for part, ms in leader.items()},
            **{f"overall_{part}": ticks for part, ticks in overall.items()},
            overall_forks=2 if noise < 0.2 else 0, overall_context_switches=500, online_cpus=self.cpus,
            births=2 if noise < 0.2 else 0, exits=1 if noise < 0.2 else 0, exits_lost=0,
            unaccounted_births=1 if noise < 0.01 else 0, page_cache_bytes=0, file_bytes=1 << 26, buffer_bytes=0,
            page_cache_how="cachestat", buffer_how="pg_buffercache", buffers_emptied="restart",
            own_cpu_ns=MS, own_snapshots_ns=MS, own_rss_bytes=90 << 20,
        )  # fmt: skip
        self.order += 1
        self.processes(key, dbms, cpu, io, queue, other, noise)
        for cpu_number in range(self.cpus):
            share = overall if cpu_number == 0 else dict.fromkeys(overall, 0)
            self.keep(schema.cpu, qe_id=key, cpu=cpu_number, **share)

    def processes(
        self, qe: int, dbms: str, cpu: float, io: float, queue: float, other: float, noise: float
    ) -> None:
        server = "postgres" if dbms == "postgresql" else "mariadbd"
        rows = [(1000, server, "query", dbms, "steady", cpu, io, queue)]
        rows.append((900, server, "utility", dbms, "steady", 0.4, 0.0, 0.1))
        rows.append(
            (400, self.names.get("daemon", "systemd-journal"), "daemon", None, "steady", other, 0.0, 0.1)
        )
        rows.append((77, "tare", "executor", None, "steady", 1.2, 0.0, 0.0))
        if noise < 0.2:
            rows.append((2000 + qe, "sh", "daemon", None, "phantom", 0.9, 0.0, 0.0))
            rows.append((3000 + qe, "cron", "daemon", None, "started", 0.3, 0.0, 0.0))
        if noise > 0.9:
            rows.append((1500, "apt", "daemon", None, "stopped", 0.7, 0.0, 0.0))
        for pid, comm, role, of, fate, run_ms, io_ms, queue_ms in rows:
            moved = run_ms > 5
            self.keep(
                schema.process,
                qe_id=qe, pid=pid, ppid=1, comm=comm, cmdline=f"{comm}: at work", role=role, dbms=of, fate=fate,
                kernel=False, cpu=0, threads=1, user_ticks=round(run_ms * 0.85 / 10) if moved else 0,
                system_ticks=round(run_ms * 0.15 / 10) if moved else 0, user_ns=round(run_ms * 0.85 * MS),
                system_ns=round(run_ms * 0.15 * MS), guest_ns=0, run_ns=round(run_ms * MS),
                run_queue_ns=round(queue_ms * MS), slices=40, block_io_ns=round(io_ms * MS),
                min_faults=round(run_ms), maj_faults=0, voluntary_switches=30 + round(io_ms),
                involuntary_switches=round(queue_ms), read_calls=round(io_ms * 8),
                write_calls=round(run_ms), read_chars=round(io_ms * 8192), write_chars=100, read_bytes=0,
                write_bytes=0,
            )  # fmt: skip
