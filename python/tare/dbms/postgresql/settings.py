"""The settings of a PostgreSQL that matter to a measurement; only those the server has are recorded."""

from __future__ import annotations

MATTER = (
    # memory
    "shared_buffers", "work_mem", "hash_mem_multiplier", "maintenance_work_mem", "temp_buffers",
    "effective_cache_size", "huge_pages", "huge_pages_status",
    # parallelism and execution
    "max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes",
    "parallel_leader_participation", "debug_parallel_query", "force_parallel_mode", "jit", "jit_above_cost",
    "plan_cache_mode", "enable_partitionwise_join", "enable_partitionwise_aggregate",
    # planner
    "random_page_cost", "seq_page_cost", "cpu_tuple_cost", "default_statistics_target", "geqo",
    # I/O
    "effective_io_concurrency", "io_method", "io_workers", "io_combine_limit", "debug_io_direct",
    "track_io_timing", "block_size",
    # durability and background work
    "synchronous_commit", "fsync", "full_page_writes", "wal_level", "max_wal_size", "checkpoint_timeout",
    "bgwriter_delay", "autovacuum", "autovacuum_naptime", "data_checksums",
    # what else may slow every statement
    "shared_preload_libraries", "track_activities", "debug_assertions", "default_transaction_isolation",
    "server_encoding", "lc_collate",
)  # fmt: skip


NEUTRAL = (
    "SET statement_timeout = 0; SET lock_timeout = 0; SET ROLE none; SET search_path = pg_catalog; "
    "SET row_security = on; SET client_encoding = 'UTF8'; SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; "
    "SET bytea_output = 'hex'; SET default_transaction_read_only = off"
)
"""Whatever the user's role or database sets."""

NEVER_IDLE = (
    "SELECT count(pg_catalog.set_config(name, '0', false)) FROM pg_catalog.pg_settings WHERE name IN "
    "('idle_session_timeout', 'idle_in_transaction_session_timeout')"
)
"""Both sessions rest while Tare reads what was measured."""

ROWS = "SELECT relname, n_live_tup, n_dead_tup FROM pg_catalog.pg_stat_user_tables WHERE n_live_tup + n_dead_tup > 0"
"""Rows of each table by the statistics, which take no lock on it."""

IN_SESSION = (
    "SELECT name, pg_catalog.current_setting(name) FROM pg_catalog.pg_settings "
    "WHERE source = 'session' AND name NOT IN "
    "('statement_timeout', 'transaction_isolation', 'transaction_read_only', 'transaction_deferrable') "
    "UNION ALL SELECT 'role', pg_catalog.current_setting('role')"
)
"""Tare sets the time-out of each execution; the other three are of a transaction."""


def query() -> str:
    names = ", ".join(f"'{name}'" for name in MATTER)
    return f"SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({names}) ORDER BY name"
