"""The settings of a MariaDB or MySQL that matter to a measurement; only those the server has are recorded."""

from __future__ import annotations

MATTER = (
    # InnoDB's memory and I/O
    "innodb_buffer_pool_size", "innodb_page_size", "innodb_flush_method", "innodb_use_native_aio",
    "innodb_read_io_threads", "innodb_write_io_threads", "innodb_io_capacity", "innodb_read_ahead_threshold",
    "innodb_random_read_ahead", "innodb_adaptive_hash_index", "innodb_change_buffering",
    "innodb_old_blocks_time", "innodb_buffer_pool_load_at_startup", "innodb_buffer_pool_dump_at_shutdown",
    # durability
    "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_log_file_size", "sync_binlog", "log_bin",
    # execution
    "query_cache_type", "query_cache_size", "join_buffer_size", "join_cache_level", "sort_buffer_size",
    "tmp_table_size", "max_heap_table_size", "read_rnd_buffer_size", "optimizer_switch",
    "optimizer_use_condition_selectivity", "use_stat_tables", "thread_handling", "tx_isolation",
    "transaction_isolation", "performance_schema", "aria_pagecache_buffer_size", "key_buffer_size",
    "innodb_parallel_read_threads", "innodb_dedicated_server", "character_set_server", "collation_server",
)  # fmt: skip


IN_SESSION = "SHOW SESSION VARIABLES"
OF_USER = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.USER_VARIABLES"
VOLATILE = frozenset({
    "timestamp", "rand_seed1", "rand_seed2", "pseudo_thread_id", "last_insert_id", "insert_id", "identity",
    "error_count", "warning_count", "in_transaction", "gtid_current_pos", "gtid_binlog_pos", "gtid_binlog_state",
    "last_gtid", "gtid_executed", "gtid_purged", "server_uuid", "server_uid", "max_statement_time",
    "max_execution_time", "tx_read_only", "transaction_read_only", "@tare_statement",
})  # fmt: skip
"""They change by themselves, or Tare sets them."""


def query() -> str:
    names = ", ".join(f"'{name}'" for name in MATTER)
    return f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})"
