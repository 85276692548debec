"""`sqlite:///relative.db`, `sqlite:////absolute.db`; read-only unless writes are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.dbms.base import Adapter
from tare.dbms.sqlite.script import statements

if TYPE_CHECKING:
    from tare.dbms.embedded.session import EmbeddedSession


class SQLite(Adapter):
    name = "sqlite"
    schemes = ("sqlite",)

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> EmbeddedSession:
        from tare.dbms.embedded.session import EmbeddedSession

        return EmbeddedSession(
            url,
            dbms=self.name,
            engine_module="tare.dbms.sqlite.engine",
            companions=("-wal", "-journal"),
            memory_how="",
            door="one prepared INSERT, executed for each row in one transaction",
            timeout_s=timeout_s,
            allow_writes=allow_writes,
            waits_for_locks=True,
        )

    def statements(self, sql: str) -> list[str]:
        return [statement.strip() for statement in statements(sql)]
