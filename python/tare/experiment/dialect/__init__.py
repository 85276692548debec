"""How the experiment's tables are made, one file a DBMS."""

from __future__ import annotations

from tare.errors import UsageError
from tare.experiment.dialect.base import Dialect
from tare.experiment.dialect.duckdb import DuckDBDialect
from tare.experiment.dialect.mariadb import MariaDBDialect
from tare.experiment.dialect.postgresql import PostgreSQLDialect
from tare.experiment.dialect.sqlite import SQLiteDialect

__all__ = ["Dialect", "dialect_of"]

_DIALECTS: dict[str, type[Dialect]] = {
    "postgresql": PostgreSQLDialect,
    "mariadb": MariaDBDialect,
    "mysql": MariaDBDialect,
    "sqlite": SQLiteDialect,
    "duckdb": DuckDBDialect,
}


def dialect_of(dbms: str) -> Dialect:
    """By `Server.dbms`. Raises UsageError."""
    if dbms not in _DIALECTS:
        raise UsageError(
            f"Tare cannot make an experiment's tables in {dbms}", f"use one of {', '.join(sorted(_DIALECTS))}"
        )
    return _DIALECTS[dbms]()
