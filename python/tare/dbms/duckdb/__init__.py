"""DuckDB, in a host process of its own."""

from tare.dbms.duckdb.adapter import DuckDB

__all__ = ["DuckDB"]
