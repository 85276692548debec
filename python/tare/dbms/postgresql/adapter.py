"""The adapter. psycopg and what works by it are loaded with the first connection: 0.1 s that no other DBMS needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.dbms.base import Adapter
from tare.dbms.url import redacted
from tare.errors import ConnectionFailed, TareError

if TYPE_CHECKING:
    from tare.dbms.postgresql.session import PostgreSQLSession

OLDEST = 120000  # server_version_num: EXPLAIN without costs of EXECUTE, worker titles, settings


class PostgreSQL(Adapter):
    name = "postgresql"
    schemes = ("postgresql", "postgres")

    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> PostgreSQLSession:
        from tare.dbms.postgresql.connecting import opened, parameters_of
        from tare.dbms.postgresql.session import PostgreSQLSession

        parameters = parameters_of(url, timeout_s)
        session = PostgreSQLSession(
            lambda: opened(url, parameters),
            url=redacted(url),
            password=parameters.get("password"),
            allow_writes=allow_writes,
            allow_restart=allow_restart,
        )
        try:
            if session.version_number < OLDEST:
                raise ConnectionFailed(
                    f"{redacted(url)} is PostgreSQL {session.server.version}", "use version 12 or later"
                )
        except TareError:
            session.close()
            raise
        return session

    def statements(self, sql: str) -> list[str]:
        from tare.dbms.scripts import statements  # 0.1 s

        return statements(sql, "postgres")
