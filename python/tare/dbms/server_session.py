"""Parts that sessions of all servers share: opened again, SQL of Tare's own, set-up that runs again."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol

from tare.dbms.base import Server, Session
from tare.errors import UsageError


class Wire(Protocol):
    """Connection as this needs it."""

    def query(self, sql: str) -> list[tuple[Any, ...]]: ...
    def script(self, sql: str) -> None: ...


class ServerSession(Session):
    """Session of a server, whose connection can be opened again."""

    dialect: ClassVar[str]
    """Name of the DBMS's SQL for the tokenizer of scripts."""

    _wire: Wire
    _server: Server

    def __init__(self, *, allow_writes: bool, allow_restart: bool) -> None:
        self._allow_writes = allow_writes
        self._allow_restart = allow_restart
        self._generation = 0

    @abstractmethod
    def _connect(self) -> None:
        """Open the connection."""

    @abstractmethod
    def _set_read_only(self, is_read_only: bool) -> None:
        """Set the mode of the next transactions: one that is open stays as it is."""

    @abstractmethod
    def _restart_refusal(self) -> str:
        """Return the reason for which Tare may not restart the server; empty where it may."""

    def reconnect(self) -> None:
        self.close()
        self._connect()
        self._generation += 1

    @property
    def generation(self) -> int:
        return self._generation

    @property
    def server(self) -> Server:
        return self._server

    @property
    def allow_restart(self) -> bool:
        return self._allow_restart

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of one of our own queries."""
        return self._wire.query(sql)

    def value(self, sql: str) -> Any:
        """The first column of the first row of one of our own queries."""
        return self._wire.query(sql)[0][0]

    def run(self, sql: str) -> None:
        self._wire.script(sql)

    def repeat(self, sql: str) -> None:
        if self._allow_writes:
            from tare.dbms import scripts  # 0.1 s: not for a session that repeats nothing

            scripts.repeat(sql, self.dialect, self.run, self._set_read_only)
        else:
            self.run(sql)

    def check_restart(self) -> None:
        if reason := self._restart_refusal():
            raise UsageError(
                f"{self._server.url} cannot be restarted: {reason}",
                f"give --allow-restart, or use a server from `tare server start {self._server.dbms}`",
            )
