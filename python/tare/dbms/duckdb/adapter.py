"""`duckdb:///relative.duckdb`, `duckdb:////absolute.duckdb`; read-only unless writes are allowed."""

from __future__ import annotations

from importlib.util import find_spec

from tare.dbms.base import Adapter
from tare.dbms.embedded.session import EmbeddedSession
from tare.errors import MissingDriver


class DuckDB(Adapter):
    name = "duckdb"
    schemes = ("duckdb",)

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> EmbeddedSession:
        self._need_driver()
        return EmbeddedSession(
            url,
            dbms=self.name,
            engine_module="tare.dbms.duckdb.engine",
            companions=(".wal",),
            memory_how="duckdb_memory()",
            door="COPY FROM, in the engine's process",
            timeout_s=timeout_s,
            allow_writes=allow_writes,
        )

    def statements(self, sql: str) -> list[str]:
        self._need_driver()
        from tare.dbms.duckdb.script import statements

        return statements(sql)

    @staticmethod
    def _need_driver() -> None:
        if find_spec("duckdb") is None:
            raise MissingDriver("the Python package duckdb is not installed", "pip install duckdb")
