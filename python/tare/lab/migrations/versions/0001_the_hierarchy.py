"""The eight-level hierarchy, from experiment down to what was read of a QE.

Revision ID: 0001
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_TICKS = (
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice",
)  # fmt: skip
_LEADER = (
    "cpu_ns", "user_ns", "system_ns", "interrupt_ns", "block_io_ns", "run_queue_ns",
    "sleep_ns", "steal_ns", "residue_ns",
)  # fmt: skip
_PROCESS = (
    "user_ticks", "system_ticks", "user_ns", "system_ns", "guest_ns", "run_ns", "run_queue_ns", "slices",
    "block_io_ns", "min_faults", "maj_faults", "voluntary_switches", "involuntary_switches",
    "read_calls", "write_calls", "read_chars", "write_chars", "read_bytes", "write_bytes",
)  # fmt: skip
_AUDIT = (
    "cpu_ns", "run_queue_ns", "block_io_ns", "sleep_ns", "steal_ns", "disk_ns", "disk_requests",
    "switch_ins", "slices",
)  # fmt: skip

Column = sa.Column[Any]


def upgrade() -> None:
    op.create_table(
        "experiment",
        _key(),
        *_texts("name", "scenario", "description", "specification", "specification_hash", "created_at"),
        sa.UniqueConstraint("specification_hash"),
    )
    op.create_table(
        "dbms",
        _key(),
        *_texts("name", "version"),
        _json("settings"),
        *_texts("digest"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table("machine", _key(), _json("facts"), *_texts("digest"), sa.UniqueConstraint("digest"))
    _run()
    _queries()
    _qe()
    _below_a_qe()


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")


def _run() -> None:
    op.create_table(
        "run",
        _key(),
        *(_of(table) for table in ("experiment", "dbms", "machine")),
        *_texts("uuid", "state"),
        *_texts("said", null=True),
        *_texts("url", "started_at"),
        *_texts("ended_at", "heartbeat_at", "executor", null=True),
        *_texts("cache"),
        sa.Column("qes_per_qatc", sa.Integer(), nullable=False),
        sa.Column("timeout_ns", sa.BigInteger()),
        sa.Column("tick_ns", sa.BigInteger(), nullable=False),
        sa.Column("online_cpus", sa.Integer(), nullable=False),
        *_texts("tier", "tare"),
        _json("means"),
        _json("deviations"),
        sa.UniqueConstraint("uuid"),
    )


def _queries() -> None:
    op.create_table(
        "query",
        _key(),
        _of("run", index=True),
        sa.Column("number", sa.Integer(), nullable=False),
        *_texts("name", "sql"),
        *_texts("error", null=True),
        sa.UniqueConstraint("run_id", "number"),
    )
    op.create_table(
        "qatc",
        _key(),
        _of("query"),
        _of("run", index=True),
        sa.Column("visit", sa.Integer(), nullable=False),
        sa.Column("cardinality", sa.BigInteger(), nullable=False),
        *_texts("state"),
        *_texts("said", null=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        *_texts("plan_fingerprint", null=True),
        _json("plan", null=True),
        sa.UniqueConstraint("query_id", "cardinality"),
        sa.UniqueConstraint("query_id", "visit"),
    )


def _qe() -> None:
    op.create_table(
        "qe",
        _key(),
        _of("qatc"),
        _of("run"),
        sa.Column("run_order", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer()),
        sa.Column("warmup", sa.Boolean(), nullable=False),
        *_texts("outcome"),
        *_texts("error", null=True),
        *_texts("started_at"),
        *_texts("plan_fingerprint", null=True),
        *_counters("row_count"),
        *_texts("answer_hash", null=True),
        *_counters("wall_ns", *(f"leader_{name}" for name in _LEADER)),
        _json("leader_why", null=True),
        *_counters("leader_pid"),
        *_texts("leader_how", null=True),
        *_counters("instructions", *(f"overall_{name}" for name in _TICKS)),
        *_counters("overall_forks", "overall_context_switches"),
        sa.Column("online_cpus", sa.Integer()),
        *_counters("births", "exits", "exits_lost", "unaccounted_births"),
        *_counters("page_cache_bytes", "file_bytes", "buffer_bytes"),
        *_texts("page_cache_how", "buffer_how", "buffers_emptied", null=True),
        *_counters("own_cpu_ns", "own_snapshots_ns", "own_rss_bytes"),
        sa.UniqueConstraint("run_id", "run_order"),
        sa.UniqueConstraint("qatc_id", "attempt", "number"),
    )


def _below_a_qe() -> None:
    op.create_table(
        "process",
        _of("qe"),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("pid", "ppid")),
        *_texts("comm", "cmdline", "role"),
        *_texts("dbms", null=True),
        *_texts("fate"),
        sa.Column("kernel", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("cpu", "threads")),
        *_counters(*_PROCESS),
    )
    op.create_index("process_of_qe", "process", ["qe_id"])
    op.create_table("cpu", _of("qe"), sa.Column("cpu", sa.Integer(), nullable=False), *_counters(*_TICKS))
    op.create_index("cpu_of_qe", "cpu", ["qe_id"])
    op.create_table(
        "reading",
        sa.Column("qe_id", _ID, sa.ForeignKey("qe.id"), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("qe_id", _ID, sa.ForeignKey("qe.id"), primary_key=True),
        sa.Column("accepted", sa.Boolean(), nullable=False),
        *_texts("why", null=True),
        *_counters(*_AUDIT),
    )


def _key() -> Column:
    return sa.Column("id", _ID, primary_key=True, autoincrement=True)


def _of(table: str, *, index: bool = False) -> Column:
    return sa.Column(f"{table}_id", _ID, sa.ForeignKey(f"{table}.id"), nullable=False, index=index)


def _texts(*names: str, null: bool = False) -> list[Column]:
    return [sa.Column(name, sa.Text(), nullable=null) for name in names]


def _json(name: str, *, null: bool = False) -> Column:
    return sa.Column(name, sa.JSON(), nullable=null)


def _counters(*names: str) -> list[Column]:
    return [sa.Column(name, sa.BigInteger()) for name in names]
