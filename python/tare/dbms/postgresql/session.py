"""A PostgreSQL connection, held for all the QEs of a Q@C.

A statement is prepared once by name. It has no parameters, so the server plans it once
(its "generic" plan) whatever `plan_cache_mode` says; `prepare` asks for that plan with
EXPLAIN EXECUTE, so that planning is done before the first clocked execution. Where planning
is clocked, too, the text is sent as an unnamed statement, which the server plans each time.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from tare.dbms import local
from tare.dbms.base import BufferResidency, Fetched, Leader, Plan, PlanNode, Prepared, Role, Server
from tare.dbms.extent import Extent, TableRows, size_of
from tare.dbms.loading import loading
from tare.dbms.patience import Patience, Wait
from tare.dbms.planned import Planned
from tare.dbms.postgresql import caches, plan, refusals, relation_files, restart, roles, settings, waits, wire
from tare.dbms.postgresql.copying import PLANS_WITHIN, copied_query, rows_of_copy
from tare.dbms.postgresql.pooling import check_pooling
from tare.dbms.postgresql.values import rows_of, single_precision
from tare.dbms.postgresql.wire import Wire
from tare.dbms.server_session import ServerSession
from tare.dbms.statement import first_word, may_be_measured
from tare.errors import BadStatement, ConnectionFailed, ServerLost, StatementFailed, TareError

if TYPE_CHECKING:
    from tare._probe import Exit, Process

CLIENT_CHECKED = 140000  # server_version_num: client_connection_check_interval (Linux)
CLIENT_CHECK_S = 10  # one timer and one poll() of the backend's in so many seconds of a query

_LOAD_BYTES = 1 << 18  # read and sent at once
_COLUMNS = (
    "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute "
    "WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
)

_MAKING = ("CREATE TABLE AS", "CREATE MATERIALIZED VIEW")  # WITH NO DATA

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class PostgreSQLFetched(Fetched):
    def __init__(self, result: PGresult, planned: Planned | None, copied: Sequence[bytes] | None) -> None:
        """`copied`: what COPY … TO STDOUT sent; None for any other statement."""
        self._result = result
        self._copied = copied
        self.planned = planned

    @property
    def row_count(self) -> int:
        if self._result.status == ExecStatus.TUPLES_OK:
            return self._result.ntuples
        return self._result.command_tuples or 0

    @property
    def made_relation(self) -> bool:
        """From the command's tag: a SELECT that returned no rows to the client stored them."""
        if self._result.status != ExecStatus.COMMAND_OK:
            return False
        tag = (self._result.command_status or b"").decode()
        return tag.startswith("SELECT ") or tag in _MAKING

    @property
    def single_precision(self) -> frozenset[int]:
        return single_precision(self._result)

    @property
    def size_bytes(self) -> int | None:
        return None if self._copied is None else sum(map(len, self._copied))

    def rows(self) -> Iterator[Sequence[object]]:
        if self._copied is not None:
            return rows_of_copy(self._copied)
        return rows_of(self._result) if self._result.status == ExecStatus.TUPLES_OK else iter(())


class PostgreSQLPrepared(Prepared):
    def __init__(
        self,
        session: PostgreSQLSession,
        wire: Wire,
        name: str,
        sql: str,
        workers_planned: int,
        explained: str,
    ) -> None:
        """`explained`: name of the statement that is explained: of a COPY its query, else the statement itself."""
        self._session = session
        self._wire = wire
        self.explained = explained
        self._name = name
        self._sql = sql
        self._workers_planned = workers_planned
        self._copies = explained != name
        self.planning_inside = PLANS_WITHIN if self._copies else wire.planning_inside

    def limit(self, timeout_s: float | None) -> None:
        self._wire.limit(timeout_s)

    def execute(self, timeout_s: float | None) -> Fetched:
        with self._recorded():
            return self._fetched(self._wire.execute(self._name, timeout_s), None)

    def plan_and_execute(self, timeout_s: float | None) -> Fetched:
        with self._recorded():
            return self._fetched(*self._wire.plan_and_execute(self._sql, timeout_s, split=not self._copies))

    def _fetched(self, result: PGresult, planned: Planned | None) -> Fetched:
        return PostgreSQLFetched(result, planned, self._wire.copied if self._copies else None)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Records when the statement ran, by which its parallel workers are recognised."""
        run = self._session.last_run
        run.workers_planned = self._workers_planned
        run.began_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        try:
            yield
        finally:
            run.ended_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def close(self) -> None:
        for name in {self._name, self.explained}:
            with suppress(TareError):  # a lost server has forgotten it already
                self._wire.query(f'DEALLOCATE "{name}"')


class PostgreSQLSession(ServerSession):
    dialect = "postgres"
    _wire: Wire

    def __init__(
        self,
        opened: Callable[[], psycopg.Connection[tuple[object, ...]]],
        *,
        url: str,
        password: str | None,
        allow_writes: bool,
        allow_restart: bool,
    ) -> None:
        super().__init__(allow_writes=allow_writes, allow_restart=allow_restart)
        self._opened = opened
        self._password = password
        self._names = (f"tare_{number}" for number in itertools.count(1))
        self.last_run = roles.LastRun()
        self.patience = Patience(self._look_at_wait)
        self._connect()
        try:
            self._server = self._look(url)
        except TareError:
            self.close()
            raise

    # Connection ---------------------------------------------------------
    def _connect(self) -> None:
        self._wire = Wire(self._opened(), self._password)
        self._wire.allow_writes = self._allow_writes
        self._own: Wire | None = None
        self._leader: Leader | None = None
        self._postmaster: int | None = None
        try:
            self._wire.pid = check_pooling(self._wire, lambda: Wire(self._opened(), self._password))
        except TareError:
            self._wire.close()
            raise
        if not self._allow_writes:
            self._wire.script("SET default_transaction_read_only = on")
        if self.version_number >= CLIENT_CHECKED:  # if we are killed, our query does not run on for ever
            self._wire.script(f"SET client_connection_check_interval = '{CLIENT_CHECK_S}s'")
        self._wire.query(settings.NEVER_IDLE)
        self._wire.patience = self.patience

    @property
    def own(self) -> Wire:
        """A second connection of the same user, for Tare's own work: what set-up or the user's role has set does not
        reach it. It is opened when it is first needed, and then rests: never opened or closed by a clocked run."""
        if self._own is None:
            self._own = Wire(self._opened_again(), self._password)
            self._own.script(settings.NEUTRAL)
            self._own.query(settings.NEVER_IDLE)
        return self._own

    @property
    def connection_ids(self) -> tuple[int, ...]:
        """Process ids of the backends that serve this session, with that of `own` if it is open."""
        own = () if self._own is None else (self._own.connection.info.backend_pid,)
        return (self._wire.pid, *own)

    def _opened_again(self) -> psycopg.Connection[tuple[object, ...]]:
        """The first connection, where there is no room for a second, knows how many there may be."""
        try:
            return self._opened()
        except ConnectionFailed as error:
            if error.code == refusals.TOO_MANY:
                error.what += (
                    f" (Tare needs two connections; max_connections is {self.value('SHOW max_connections')})"
                )
            raise

    def _look_at_wait(self, elapsed_s: float) -> Wait:
        if elapsed_s >= wire.OWN_S and self._leader is not None and local.is_stopped(self._wire.pid):
            raise wire.not_answered()
        try:
            return waits.look(self.own, self._wire.pid)
        except ConnectionFailed as error:
            raise wire.not_answered() from error

    def _close_own(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None

    def _look(self, url: str) -> Server:
        found = {str(name): str(value) for name, value in self._wire.query(settings.query())}
        directory: Path | None = None
        with suppress(StatementFailed):  # only pg_read_all_settings may see it
            directory = Path(str(self.own.query("SELECT current_setting('data_directory')")[0][0]))
        is_here = self.leader() is not None
        return Server(
            dbms="postgresql",
            version=str(self.value("SELECT current_setting('server_version')")),
            settings=found,
            url=url,
            local=is_here,
            data_directory=directory if is_here else None,
        )

    def settings(self) -> Mapping[str, str]:
        return {str(name): str(value) for name, value in self._wire.query(settings.IN_SESSION)}

    @property
    def version_number(self) -> int:
        """100 × the major version + …: 120005, 180004."""
        return self._wire.connection.info.server_version

    def close(self) -> None:
        self._close_own()
        self._wire.close()

    # Processes ----------------------------------------------------------
    def leader(self) -> Leader | None:
        if self._leader is None:
            info = self._wire.connection.info
            pid = self._wire.pid
            near = local.is_loopback(info.host) or local.is_loopback(info.hostaddr)
            if near and roles.backend_is_here(pid, info.user, info.dbname):
                self._leader = Leader(pid=pid, tid=pid, how="pg_backend_pid()", whole_process=False)
                self._postmaster = local.parent_of(pid)
        return self._leader

    def role(self, process: Process, leader: Leader) -> Role | None:
        return roles.role(process, leader, self._postmaster_of(leader))

    def exit_role(self, exit_: Exit, leader: Leader) -> Role | None:
        return roles.exit_role(exit_, leader, self._postmaster_of(leader), self.last_run, _TICK_NS)

    def worker_parents(self, leader: Leader) -> Sequence[int]:
        return (self._postmaster_of(leader),)

    def _postmaster_of(self, leader: Leader) -> int:
        if self._postmaster is None:  # never asked before the leader is known
            self._postmaster = local.parent_of(leader.pid)
        if self._postmaster is None:
            raise ServerLost(
                f"the backend {leader.pid} is gone", "look at the end of the server's log; then run again"
            )
        return self._postmaster

    # Statements ---------------------------------------------------------
    def explain(self, sql: str) -> Plan:
        name = next(self._names)
        self._wire.prepare(name, copied_query(sql) or sql)
        try:
            return self._plan(name)
        finally:
            self._wire.query(f'DEALLOCATE "{name}"')

    def plan_of(self, prepared: Prepared, sql: str) -> Plan:
        """Return the plan of the very statement that is executed, so also after the settings have changed."""
        return (
            self._plan(prepared.explained) if isinstance(prepared, PostgreSQLPrepared) else self.explain(sql)
        )

    def prepare(self, sql: str) -> Prepared:
        if not first_word(sql):
            raise BadStatement("the SQL is empty", "give a statement to measure")
        copied = copied_query(sql)
        name = explained = next(self._names)
        self._wire.prepare(name, sql)
        try:
            if copied is not None:
                self._wire.prepare(explained := next(self._names), copied)
            root = self._tree(explained)
            if not self._allow_writes and (not may_be_measured(copied or sql) or plan.changes_data(root)):
                raise BadStatement(
                    f"the statement ({first_word(sql)}) may change data",
                    "give --allow-writes if it is meant to",
                )
        except TareError:
            for one in {name, explained}:
                with suppress(TareError):
                    self._wire.query(f'DEALLOCATE "{one}"')
            raise
        return PostgreSQLPrepared(self, self._wire, name, sql, plan.workers_planned(root), explained)

    def _set_read_only(self, is_read_only: bool) -> None:
        self._wire.script(f"SET default_transaction_read_only = {'on' if is_read_only else 'off'}")

    def load(self, table: str, file: Path) -> int:
        with loading(table, file):
            columns = str(self.value(_COLUMNS.format(table=table.replace("'", "''"))))
            options = f"FORMAT csv, ENCODING 'UTF8', FORCE_NULL ({columns})"
            with file.open("rb") as stream:
                parts = iter(lambda: stream.read(_LOAD_BYTES), b"")
                return self._wire.copy_in(f"COPY {table} FROM STDIN WITH ({options})", parts)

    def door(self) -> str:
        return "COPY FROM STDIN"

    def _plan(self, name: str) -> Plan:
        lines = self._wire.query(f'EXPLAIN EXECUTE "{name}"')
        return Plan(root=self._tree(name), text="\n".join(str(line) for (line,) in lines))

    def _tree(self, name: str) -> PlanNode:
        explained = self.value(f'EXPLAIN (FORMAT JSON, VERBOSE off, COSTS off) EXECUTE "{name}"')
        return plan.root(json.loads(explained) if isinstance(explained, str) else explained)

    # Caches -------------------------------------------------------------
    def data_files(self) -> Sequence[Path]:
        if self._server.data_directory is None:
            return ()
        (oid,) = self.own.query(caches.DATABASE_OID)[0]
        return caches.database_files(self._server.data_directory, int(str(oid)))

    def file_names(self) -> Mapping[Path, str]:
        if self._server.data_directory is None:
            return {}
        return relation_files.names(self._server.data_directory, self.own.query(relation_files.RELATIONS))

    def extent(self) -> Extent | None:
        if not self._allow_writes:
            return None
        with suppress(StatementFailed):  # before version 15, or within a transaction that has failed
            self._wire.query("SELECT pg_catalog.pg_stat_force_next_flush()")
        counted = self.own.query(settings.ROWS)
        return Extent(
            size_of(self.data_files()),
            {str(name): TableRows(int(str(live)), int(str(dead))) for name, live, dead in counted},
        )

    def is_own_file(self, path: Path) -> bool:
        return caches.is_own_file(self._server.data_directory, path)

    def flush(self) -> None:
        caches.checkpoint(self)

    def clear_buffers(self) -> str:
        return caches.clear(self)

    def buffer_residency(self) -> BufferResidency | None:
        return caches.residency(self)

    def _restart_refusal(self) -> str:
        return restart.refusal(self._server.data_directory, is_allowed=self._allow_restart)

    def restart(self) -> None:
        directory = self._server.data_directory
        assert directory is not None
        leader = self.leader()
        restart.restart(directory, leader.pid if leader else None)
