"""PostgreSQL's statistics views.

A backend reports what it did at most once a second, so counts of neighbouring seconds may lend to each other;
`wal_bytes` is the log's own position, and exact.
"""

from __future__ import annotations

from tare.workload.oltp.measures.statistics import Rows, View, named

_DATABASE = View(
    "pg_stat_database",
    "SELECT xact_commit, xact_rollback, deadlocks, blks_hit, blks_read, temp_bytes "
    "FROM pg_stat_database WHERE datname = current_database()",
    named("commits", "rollbacks", "deadlocks", "buffer_hits", "buffer_reads", "temp_bytes"),
)
_LOG = View(
    "pg_current_wal_insert_lsn",
    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')",
    named("wal_bytes"),
)
_ACTIVITY = "SELECT state, wait_event_type, count(*) FROM pg_stat_activity " + (
    "WHERE datname = current_database() AND pid <> pg_backend_pid() GROUP BY state, wait_event_type"
)
_WAITING = {"Lock": "waiting_lock", "LWLock": "waiting_lwlock", "IO": "waiting_io"}


def views(major: int) -> list[View]:
    """Return the views that this version has."""
    return [
        _DATABASE,
        _LOG,
        View("pg_stat_activity", _ACTIVITY, _activity),
        *_wal(major),
        _checkpoints(major),
    ]


def _wal(major: int) -> list[View]:
    if major < 14:
        return []
    full = View("pg_stat_wal", "SELECT wal_buffers_full FROM pg_stat_wal", named("wal_full"))
    if major < 18:
        syncs = "SELECT wal_buffers_full, wal_sync FROM pg_stat_wal"
        return [View("pg_stat_wal", syncs, named("wal_full", "wal_syncs"))]
    syncs = "SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'"
    return [full, View("pg_stat_io", syncs, named("wal_syncs"))]


def _checkpoints(major: int) -> View:
    names = named("checkpoints_timed", "checkpoints_asked", "checkpoint_pages")
    if major < 17:
        old = "SELECT checkpoints_timed, checkpoints_req, buffers_checkpoint FROM pg_stat_bgwriter"
        return View("pg_stat_bgwriter", old, names)
    new = "SELECT num_timed, num_requested, buffers_written FROM pg_stat_checkpointer"
    return View("pg_stat_checkpointer", new, names)


def _activity(rows: Rows) -> dict[str, float]:
    values = dict.fromkeys(
        ("sessions_active", "sessions_idle_in_transaction", *_WAITING.values(), "waiting_other"), 0.0
    )
    for state, waits_for, count in rows:
        number = float(str(count))
        if state == "active":
            values["sessions_active"] += number
            if waits_for is not None:
                values[_WAITING.get(str(waits_for), "waiting_other")] += number
        elif str(state).startswith("idle in transaction"):
            values["sessions_idle_in_transaction"] += number
    return values
