"""MariaDB's and MySQL's status variables. A server that lacks one has no such measure."""

from __future__ import annotations

from tare.workload.oltp.measures.statistics import Rows, View, keyed

_MS = 1e-3  # in seconds
_VARIABLES: dict[str, tuple[str, float]] = {
    "com_commit": ("commits", 1),
    "com_rollback": ("rollbacks", 1),
    "innodb_deadlocks": ("deadlocks", 1),  # MariaDB alone
    "innodb_row_lock_waits": ("lock_waits", 1),
    "innodb_row_lock_time": ("lock_wait_time", _MS),
    "innodb_row_lock_current_waits": ("waiting_lock", 1),
    "innodb_buffer_pool_read_requests": ("buffer_hits", 1),  # and misses, see _read
    "innodb_buffer_pool_reads": ("buffer_reads", 1),
    "innodb_buffer_pool_wait_free": ("buffer_wait_free", 1),
    "innodb_os_log_written": ("wal_bytes", 1),
    "innodb_os_log_fsyncs": ("wal_syncs", 1),  # MySQL, and MariaDB before 10.8
    "innodb_log_waits": ("wal_full", 1),
    "innodb_data_fsyncs": ("data_syncs", 1),
    "innodb_checkpoint_age": ("checkpoint_age", 1),  # MariaDB alone
    "threads_running": ("sessions_active", 1),  # and the one that measures, see _read
}
_NAMES = ", ".join(f"'{name}'" for name in _VARIABLES)


def views() -> list[View]:
    asked = f"SHOW GLOBAL STATUS WHERE variable_name IN ({_NAMES})"
    return [View("SHOW GLOBAL STATUS", asked, _read)]


def _read(rows: Rows) -> dict[str, float]:
    values = keyed(_VARIABLES)(rows)
    if "buffer_hits" in values:
        values["buffer_hits"] -= values.get("buffer_reads", 0)
    if "sessions_active" in values:
        values["sessions_active"] = max(0, values["sessions_active"] - 1)
    return values
