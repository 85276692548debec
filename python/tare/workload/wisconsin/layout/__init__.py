"""How the benchmark's relations are stored, one file a DBMS."""

from __future__ import annotations

from tare.errors import UsageError
from tare.workload.wisconsin.layout.base import Layout, Setting, setting_of
from tare.workload.wisconsin.layout.duckdb import DuckDBLayout
from tare.workload.wisconsin.layout.innodb import InnoDBLayout
from tare.workload.wisconsin.layout.postgresql import PostgreSQLLayout
from tare.workload.wisconsin.layout.sqlite import SQLiteLayout

__all__ = ["Layout", "Setting", "layout_of", "setting_of"]

_LAYOUTS: dict[str, type[Layout]] = {
    "postgresql": PostgreSQLLayout,
    "mariadb": InnoDBLayout,
    "mysql": InnoDBLayout,
    "sqlite": SQLiteLayout,
    "duckdb": DuckDBLayout,
}


def layout_of(dbms: str) -> Layout:
    """By `Server.dbms`. Raises UsageError."""
    if dbms not in _LAYOUTS:
        raise UsageError(
            f"Tare cannot store the Wisconsin benchmark's relations in {dbms}",
            f"use one of {', '.join(sorted(_LAYOUTS))}",
        )
    return _LAYOUTS[dbms]()
