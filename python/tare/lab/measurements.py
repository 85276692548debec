"""Measurements of single queries in a lab, and the series that they make: one for each query, DBMS and machine."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, insert, select

from tare.dbms.base import Server
from tare.lab.recorder import shared
from tare.lab.rows import clean, dbms_row, digest, machine_row
from tare.lab.schema import dbms, machine, measurement
from tare.lab.store import Lab
from tare.measure.environment import MachineFacts

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Measured:
    """A query as it was measured once. `samples`: of each measure, in run order: ms, or instructions."""

    name: str
    sql: str
    samples: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Point:
    """A measurement of a series. `number`: its row in the lab; rows are in the order in which they were recorded."""

    number: int
    started_at: str
    code: str | None
    version: str  # of the DBMS
    machine: MachineFacts
    samples: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Series:
    """Measurements that may be compared, in the order in which they were recorded: clocks may be wrong.

    `hardware`: digest of the machine's hardware; a machine whose CPUs, memory or hypervisor change is another one."""

    name: str
    dbms: str
    cache: str
    hardware: str
    points: Sequence[Point]


def hardware(facts: MachineFacts) -> str:
    """Digest of what makes a machine another one: not its kernel or software, which a trend is to show."""
    return digest(
        {
            "cpu_model": facts.cpu_model,
            "online_cpus": facts.online_cpus,
            "usable_cpus": facts.usable_cpus,
            "memory_gib": round(facts.memory_bytes / _GIB),
            "hypervisor": facts.hypervisor,
        }
    )[:8]


def record(
    lab: Lab,
    measured: Sequence[Measured],
    *,
    server: Server,
    facts: MachineFacts,
    cache: str,
    started_at: str,
    code: str | None,
) -> None:
    """Record the queries of a run in a single transaction. Raises LabFull, LabLost or another LabError."""
    run = str(uuid.uuid4())
    with lab.writing() as connection:
        above = {
            "dbms_id": shared(connection, dbms, "digest", dbms_row(server)),
            "machine_id": shared(connection, machine, "digest", machine_row(facts)),
            "uuid": run,
            "hardware": hardware(facts),
            "cache": cache,
            "started_at": started_at,
            "code": code,
        }
        for one in measured:
            samples = {name: list(values) for name, values in one.samples.items()}
            row = {**above, "name": clean(one.name), "sql": clean(one.sql), "samples": samples}
            connection.execute(insert(measurement).values(row))


def count(lab: Lab) -> int:
    """Number of measurements in the lab. Raises LabError."""
    with lab.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(measurement)).scalar_one())


def series(lab: Lab, names: Sequence[str] = ()) -> list[Series]:
    """All series, or those of these queries, by name, DBMS, cache state and machine. Raises LabError."""
    wanted = (
        select(
            *(
                measurement.c[name]
                for name in ("id", "started_at", "code", "name", "cache", "hardware", "samples")
            ),
            dbms.c.name.label("dbms_name"),
            dbms.c.version,
            machine.c.facts,
        )
        .join(dbms, dbms.c.id == measurement.c.dbms_id)
        .join(machine, machine.c.id == measurement.c.machine_id)
        .order_by(measurement.c.id)
    )
    if names:
        wanted = wanted.where(measurement.c.name.in_(names))
    found: dict[tuple[str, str, str, str], list[Point]] = {}
    with lab.reading() as connection:
        for row in connection.execute(wanted).mappings():
            key = row["name"], row["dbms_name"], row["cache"], row["hardware"]
            point = Point(
                number=row["id"],
                started_at=row["started_at"],
                code=row["code"],
                version=row["version"],
                machine=MachineFacts(**row["facts"]),
                samples=row["samples"],
            )
            found.setdefault(key, []).append(point)
    return [Series(*key, points) for key, points in sorted(found.items())]
