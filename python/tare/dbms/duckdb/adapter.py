"""`duckdb:///relative.duckdb`, `duckdb:////absolute.duckdb`; read-only unless writes are allowed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from tare.dbms.base import Adapter
from tare.dbms.statement import first_word
from tare.errors import MissingDriver

if TYPE_CHECKING:
    from tare.dbms.embedded.session import EmbeddedSession


class DuckDB(Adapter):
    name = "duckdb"
    schemes = ("duckdb",)

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> EmbeddedSession:
        from tare.dbms.embedded.session import EmbeddedSession

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
        """Return each statement, with the comments before it. No statement of DuckDB has semicolons inside."""
        self._need_driver()
        import duckdb

        text = sql.encode()  # the tokenizer counts bytes
        parts, begin = [], 0
        for at, kind in duckdb.tokenize(sql):  # parses nothing
            if kind == duckdb.token_type.operator and text[at : at + 1] == b";":
                parts.append(text[begin:at])
                begin = at + 1
        found = [part.decode().strip() for part in (*parts, text[begin:])]
        return [part for part in found if first_word(part)]

    @staticmethod
    def _need_driver() -> None:
        if find_spec("duckdb") is None:
            raise MissingDriver("the Python package duckdb is not installed", "pip install duckdb")
