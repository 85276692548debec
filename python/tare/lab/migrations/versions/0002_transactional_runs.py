"""Runs of transactional workloads: what was asked and held, by type and by second.

Revision ID: 0002
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_COUNTS = (
    "offered", "started", "committed", "rolled_back", "deadlocks", "serialization_failures", "lock_timeouts",
    "lost", "errors", "shed", "unstarted", "retried_deadlock", "retried_serialization", "retried_lock_timeout",
)  # fmt: skip

Column = sa.Column[Any]


def upgrade() -> None:
    op.create_table(
        "oltp_run",
        _key(),
        sa.Column("dbms_id", _ID, sa.ForeignKey("dbms.id"), nullable=False),
        sa.Column("machine_id", _ID, sa.ForeignKey("machine.id"), nullable=False),
        *_filled(sa.Text(), "uuid", "url"),
        *_filled(sa.Boolean(), "local"),
        *_filled(sa.Text(), "started_at", "ended_at", "workload"),
        *_filled(sa.Double(), "scale"),
        *_filled(sa.Text(), "data_seed", "data_options"),
        *_filled(sa.Boolean(), "data_complete"),
        *_filled(sa.JSON(), "asked"),
        *_filled(sa.Text(), "isolation"),
        *_filled(sa.Boolean(), "valid"),
        *_filled(sa.JSON(), "invalid"),
        *_filled(sa.BigInteger(), "started_ns", "took_ns"),
        sa.Column("intended_rate", sa.Double()),
        *_filled(sa.Double(), "rate"),
        *_filled(sa.BigInteger(), "warmup_ns"),
        *_filled(sa.JSON(), "warmup"),
        *_filled(sa.BigInteger(), "reconnects", "own_cpu_ns", "own_peak_rss_bytes"),
        *_filled(sa.JSON(), "mix"),
        *_filled(sa.BigInteger(), "samples"),
        *_filled(sa.JSON(), "troubles", "unmeasured", "deviations"),
        sa.UniqueConstraint("uuid"),
    )
    op.create_table(
        "oltp_type",
        _key(),
        _run(),
        *_filled(sa.Integer(), "number"),
        *_filled(sa.Text(), "name"),
        *_filled(sa.BigInteger(), *_COUNTS),
        *(column for name in ("response", "service", "lag") for column in _distribution(name)),
        sa.UniqueConstraint("oltp_run_id", "number"),
    )
    op.create_table(
        "oltp_second",
        _run(),
        *_filled(sa.Integer(), "number", "phase"),
        *_filled(sa.BigInteger(), *_COUNTS, "backlog", "running"),
        *_quick("response"),
        *_quick("service"),
        *_filled(sa.BigInteger(), "own_cpu_ns"),
    )
    op.create_index("oltp_second_of_run", "oltp_second", ["oltp_run_id"])
    op.create_table(
        "oltp_measure",
        _run(),
        *_filled(sa.Integer(), "second"),
        *_filled(sa.Text(), "name"),
        *_filled(sa.Double(), "value"),
        *_filled(sa.Text(), "unit"),
    )
    op.create_index("oltp_measure_of_run", "oltp_measure", ["oltp_run_id"])
    op.create_table(
        "oltp_check",
        _run(),
        *_filled(sa.Text(), "moment"),
        *_filled(sa.Integer(), "number"),
        *_filled(sa.Text(), "name", "says"),
        *_filled(sa.BigInteger(), "failing"),
        *_filled(sa.JSON(), "columns", "rows"),
        *_filled(sa.BigInteger(), "took_ns"),
    )
    op.create_index("oltp_check_of_run", "oltp_check", ["oltp_run_id"])


def _key() -> Column:
    return sa.Column("id", _ID, primary_key=True, autoincrement=True)


def _run() -> Column:
    return sa.Column("oltp_run_id", _ID, sa.ForeignKey("oltp_run.id"), nullable=False)


def _filled(kind: Any, *names: str) -> list[Column]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _distribution(name: str) -> list[Column]:
    return [
        *_filled(sa.BigInteger(), f"{name}_count"),
        *_filled(sa.Double(), *(f"{name}_{one}" for one in ("mean", "m2", "norm", "power_sum"))),
        *_filled(sa.BigInteger(), f"{name}_min", f"{name}_max"),
        *_filled(sa.LargeBinary(), f"{name}_histogram"),
    ]


def _quick(name: str) -> list[Column]:
    return [
        sa.Column(f"{name}_mean", sa.Double()),
        *(sa.Column(f"{name}_{one}", sa.BigInteger()) for one in ("p50", "p95", "p99", "max")),
    ]
