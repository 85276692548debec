"""A MariaDB or MySQL connection, held for all the QEs of a Q@C.

A prepared statement is parsed and resolved once; the server optimises it anew in every
execution, so each clocked execution includes optimisation. Where planning is clocked, too,
the text is sent as any client sends it (COM_QUERY), and parsing is inside as well. The query cache, where a server
still has one switched on, is switched off for this session.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.dbms import local
from tare.dbms.base import BufferResidency, Fetched, Leader, Plan, PlanNode, Prepared, Role, Server
from tare.dbms.extent import Extent, size_of
from tare.dbms.loading import loading
from tare.dbms.mariadb import caches, failures, load, plan, restart, roles, settings, spin, waits, wire
from tare.dbms.mariadb.wire import Wire
from tare.dbms.patience import Patience, Wait
from tare.dbms.server_session import ServerSession
from tare.dbms.statement import first_word, may_be_measured
from tare.errors import BadStatement, ConnectionFailed, StatementFailed, TareError

if TYPE_CHECKING:
    from tare._probe import Process

_FLOAT = 4  # the type of a column of single precision in the protocol
_EXPLAINED = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "INSERT", "REPLACE", "UPDATE", "DELETE"})


class MariaDBFetched(Fetched):
    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    @property
    def row_count(self) -> int:
        return int(self._cursor.rowcount if self._cursor.description else self._cursor.affected_rows)

    @property
    def single_precision(self) -> frozenset[int]:
        described = self._cursor.description or ()
        return frozenset(column for column, (_, kind, *_) in enumerate(described) if kind == _FLOAT)

    def rows(self) -> Iterator[Sequence[object]]:
        """The driver fails on a time whose month or day is zero (SystemError), and has None for such a date."""
        if self._cursor.description:
            self._cursor.scroll(0, mode="absolute") if self._cursor.rowcount else None
            yield from self._cursor


class MariaDBPrepared(Prepared):
    planning_inside = (
        "the server parses and optimises a statement within its execution, and shows no end of it"
    )

    def __init__(self, wire: Wire, name: str, sql: str) -> None:
        self._wire = wire
        self._name = name
        self._sql = sql

    def limit(self, timeout_s: float | None) -> None:
        self._wire.limit(timeout_s)

    def execute(self, timeout_s: float | None) -> Fetched:
        return MariaDBFetched(self._wire.execute(f"EXECUTE {self._name}", timeout_s))

    def plan_and_execute(self, timeout_s: float | None) -> Fetched:
        return MariaDBFetched(self._wire.execute(self._sql, timeout_s))

    def close(self) -> None:
        with suppress(TareError):  # a lost server has forgotten it already
            self._wire.query(f"DEALLOCATE PREPARE {self._name}")


class MariaDBSession(ServerSession):
    dialect = "mysql"
    _wire: Wire

    def __init__(
        self,
        driver: Any,
        opened: Callable[..., Any],
        *,
        url: str,
        near: bool,
        password: str | None,
        allow_writes: bool,
        allow_restart: bool,
    ) -> None:
        super().__init__(allow_writes=allow_writes, allow_restart=allow_restart)
        self._driver = driver
        self._opened = opened
        self._near = near
        self._password = password
        self._names = (f"tare_{number}" for number in itertools.count(1))
        self.patience = Patience(self._look_at_wait)
        self._connect()
        try:
            self._server = self._look(url)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        self._wire = Wire(self._driver, self._opened, self._password)
        self._wire.allow_writes = self._allow_writes
        self._own: Wire | None = None
        self._leader: Leader | None = None
        self._wire.limit(None)
        if not self._allow_writes:
            self._wire.query("SET SESSION TRANSACTION READ ONLY")
        for name, value in self._wire.query("SHOW SESSION VARIABLES LIKE 'query_cache_type'"):
            if value != "OFF":
                self._wire.query(f"SET SESSION {name} = OFF")
        self._wire.patience = self.patience

    @property
    def own(self) -> Wire:
        """A second connection of the same user, for Tare's own work: what set-up has set in the first does not reach
        it. It is opened when it is first needed, and then rests: never opened or closed by a clocked run."""
        if self._own is None:
            try:
                self._own = Wire(self._driver, self._opened, self._password)
            except ConnectionFailed as error:
                if error.code == str(failures.TOO_MANY):
                    error.what += (
                        f"; max_connections is {self.value('SELECT @@max_connections')}, and Tare needs two"
                    )
                raise
            self._own.limit(None)
        return self._own

    @property
    def connection_ids(self) -> tuple[int, ...]:
        """Ids of this session's connections, with that of `own` if it is open."""
        return (self._wire.id, *(() if self._own is None else (self._own.id,)))

    def _look_at_wait(self, elapsed_s: float) -> Wait:
        if elapsed_s >= wire.OWN_S and self._leader is not None and local.is_stopped(self._leader.pid):
            raise wire.not_answered()
        try:
            return waits.look(self.own, self._wire.id)
        except ConnectionFailed as error:
            raise wire.not_answered() from error

    def _look(self, url: str) -> Server:
        found = {str(name): str(value) for name, value in self._wire.query(settings.query())}
        is_here = self.leader() is not None
        return Server(
            dbms="mariadb" if self._wire.is_mariadb else "mysql",
            version=str(self.value("SELECT VERSION()")),
            settings=dict(sorted(found.items())),
            url=url,
            local=is_here,
            data_directory=Path(str(self.value("SELECT @@datadir"))) if is_here else None,
        )

    def settings(self) -> Mapping[str, str]:
        found = {str(name): str(value) for name, value in self._wire.query(settings.IN_SESSION)}
        with suppress(StatementFailed):  # only MariaDB shows variables of users
            found |= {f"@{name}": str(value) for name, value in self._wire.query(settings.OF_USER)}
        return {name: value for name, value in found.items() if name.lower() not in settings.VOLATILE}

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
        self._wire.close()

    # Processes ----------------------------------------------------------
    def leader(self) -> Leader | None:
        """With a thread pool (`thread_handling`) another thread may run the next statement."""
        if self._leader is None and self._near:
            sql, how = (
                (roles.THREAD_MARIADB, "information_schema.PROCESSLIST.TID")
                if self._wire.is_mariadb
                else (roles.THREAD_MYSQL, "performance_schema.threads.THREAD_OS_ID")
            )
            try:
                self._leader = roles.leader(int(self.value(sql)), how)
            except (
                StatementFailed,
                IndexError,
            ):  # MySQL before 5.7; performance_schema off, or closed to this user
                self._leader, self.no_leader = spin.find(self._wire)
        return self._leader

    def role(self, process: Process, leader: Leader) -> Role | None:
        return roles.role(process, leader)

    # Statements ---------------------------------------------------------
    def explain(self, sql: str) -> Plan:
        if first_word(sql) not in _EXPLAINED:
            self.prepare(sql).close()  # still an error if the statement is at fault
            return Plan(PlanNode("Utility Statement"), "the server explains no such statement")
        shown = self._explained("EXPLAIN FORMAT=JSON", sql)
        lines = self._explained("EXPLAIN", sql)
        text = "\n".join("  ".join("-" if cell is None else str(cell) for cell in line) for line in lines)
        return Plan(root=plan.parsed(shown[0][0]), text=text)

    def prepare(self, sql: str) -> Prepared:
        word = first_word(sql)
        if not word:
            raise BadStatement("the SQL is empty", "give a statement to measure")
        name = next(self._names)
        self._wire.prepare(name, sql)
        prepared = MariaDBPrepared(self._wire, name, sql)
        if not self._allow_writes and not may_be_measured(sql):
            prepared.close()
            raise BadStatement(
                f"the statement ({word}) may change data", "give --allow-writes if it is meant to"
            )
        return prepared

    def _set_read_only(self, is_read_only: bool) -> None:
        self._wire.query(f"SET SESSION TRANSACTION READ {'ONLY' if is_read_only else 'WRITE'}")

    def load(self, table: str, file: Path) -> int:
        """Over a connection of its own: a session's settings do not reach it, and this one outlives an interrupt."""
        if not self._allow_writes:
            raise BadStatement("loading changes data", "give --allow-writes if it is meant to")
        with loading(table, file):
            wire = Wire(self._driver, partial(self._opened, local_infile=True), self._password)
            try:
                return load.load(wire, table, file)
            finally:
                wire.close()

    def door(self) -> str:
        if load.takes_files(self._wire):
            return "LOAD DATA LOCAL INFILE"
        return (
            f"INSERT of {load.INSERT_ROWS:,} rows at a time, since the server takes no local files "
            "(SET GLOBAL local_infile = ON lets it)"
        )

    def _explained(self, how: str, sql: str) -> list[tuple[Any, ...]]:
        """Through PREPARE: the server then refuses a second statement behind the first."""
        name = next(self._names)
        self._wire.prepare(name, f"{how} {sql}", sql)
        try:
            return self._wire.query(f"EXECUTE {name}")
        finally:
            self._wire.query(f"DEALLOCATE PREPARE {name}")

    def keeps_results(self) -> bool:
        """Off in every session that Tare opens, until a statement of the user's sets it on."""
        with suppress(StatementFailed):  # MySQL has no such cache any more
            ((kind, size),) = self._wire.query("SELECT @@query_cache_type, @@query_cache_size")
            return kind in ("ON", "DEMAND") and int(size) > 0
        return False

    # Caches -------------------------------------------------------------
    def data_files(self) -> Sequence[Path]:
        if self._server.data_directory is None:
            return ()
        return caches.database_files(self._server.data_directory, self.value("SELECT DATABASE()"))

    def file_names(self) -> Mapping[Path, str]:
        return caches.file_names(self.data_files(), self.value("SELECT DATABASE()"))

    def extent(self) -> Extent | None:
        """By files: InnoDB's counts of rows are estimates that follow later."""
        return Extent(size_of(self.data_files())) if self._allow_writes else None

    def is_own_file(self, path: Path) -> bool:
        return caches.is_own_file(self._server.data_directory, path)

    def flush(self) -> None:
        caches.write_out(self)

    def clear_buffers(self) -> str:
        return caches.clear(self)

    def buffer_residency(self) -> BufferResidency | None:
        return caches.residency(self)

    def _restart_refusal(self) -> str:
        return restart.refusal(self)

    def restart(self) -> None:
        restart.restart(self)
