"""`duckdb:///relative.duckdb`, `duckdb:////absolute.duckdb`; read-only unless writes are allowed."""

from __future__ import annotations

from tare.dbms.base import Adapter
from tare.dbms.embedded.session import EmbeddedSession


class DuckDB(Adapter):
    name = "duckdb"
    schemes = ("duckdb",)
    extra = "duckdb"

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> EmbeddedSession:
        self.need_driver()
        return EmbeddedSession(
            url,
            dbms=self.name,
            engine_module="tare.dbms.duckdb.engine",
            companions=(".wal",),
            memory_how="duckdb_memory()",
            door="COPY FROM, in the engine's process",
            setting="SELECT current_setting('{name}')",
            timeout_s=timeout_s,
            allow_writes=allow_writes,
        )
