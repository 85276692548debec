"""Workloads of the runs, and the DBMSes that they run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare.workload.oltp.run import OltpRun

POSTGRESQL_18, POSTGRESQL_15, MARIADB = "PostgreSQL 18", "PostgreSQL 15", "MariaDB"
NAMES = (POSTGRESQL_18, POSTGRESQL_15, MARIADB)


@dataclass(frozen=True)
class Work:
    name: str
    mix: Mapping[str, float]
    options: Mapping[str, str]


WORKS = (Work("whole mix", {}, {}), Work("New-Order, 15 lines", {"new_order": 100}, {"fixed_lines": "15"}))


@dataclass(frozen=True)
class Done:
    dbms: str
    work: Work
    round: int
    run: OltpRun
