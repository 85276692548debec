"""A session with an engine in a host process. Its one process is the query process.

The clocked part of an execution is the round trip of a small message to the host, the
statement (its planning included where that is clocked, too: the host then reads the clocks
between the two), and turning its whole result into Python values *in the host*. DuckDB keeps a result that Python's
types cannot hold in its own form (see `duckdb/values.py`). Sending the rows here comes later.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.dbms import local
from tare.dbms.base import BufferResidency, Fetched, Leader, Plan, PlanNode, Prepared, Role, Server, Session
from tare.dbms.embedded import client
from tare.dbms.embedded.client import HostClient
from tare.dbms.embedded.engine import Explained, Facts
from tare.dbms.embedded.holders import holders
from tare.dbms.extent import Extent
from tare.dbms.loading import loading
from tare.dbms.patience import AT_WORK, Patience, Wait
from tare.dbms.planned import Planned
from tare.dbms.url import MEMORY, file_path, is_in_memory, redacted
from tare.errors import ConnectionFailed, QueryTimeout, TareError
from tare.files import synced

if TYPE_CHECKING:
    from tare._probe import Process

_ROWS_AT_ONCE = 10_000


class EmbeddedFetched(Fetched):
    def __init__(
        self,
        host: HostClient,
        number: int,
        row_count: int,
        planned: Planned | None,
        single_precision: frozenset[int],
    ) -> None:
        self._host = host
        self._number = number
        self._row_count = row_count
        self._single_precision = single_precision
        self.planned = planned

    @property
    def row_count(self) -> int:
        return self._row_count

    @property
    def single_precision(self) -> frozenset[int]:
        return self._single_precision

    def rows(self) -> Iterator[Sequence[object]]:
        for start in itertools.count(0, _ROWS_AT_ONCE):
            part = self._host.ask("rows", self._number, start, _ROWS_AT_ONCE)
            yield from part
            if len(part) < _ROWS_AT_ONCE:
                return

    def __del__(self) -> None:
        self._host.release(self._number)


class EmbeddedPrepared(Prepared):
    def __init__(self, host: HostClient, number: int, planning_inside: str) -> None:
        self._host = host
        self._number = number
        self.planning_inside = planning_inside

    def execute(self, timeout_s: float | None) -> Fetched:
        return EmbeddedFetched(self._host, *self._host.request("execute", self._number, timeout_s=timeout_s))

    def plan_and_execute(self, timeout_s: float | None) -> Fetched:
        answer = self._host.request("plan_and_execute", self._number, timeout_s=timeout_s)
        return EmbeddedFetched(self._host, *answer)

    def close(self) -> None:
        with suppress(TareError):  # a lost host has forgotten it already
            self._host.ask("release", self._number)


class EmbeddedSession(Session):
    def __init__(
        self,
        url: str,
        *,
        dbms: str,
        engine_module: str,
        companions: Sequence[str],
        memory_how: str,
        door: str,
        timeout_s: float,
        allow_writes: bool,
        waits_for_locks: bool = False,
    ) -> None:
        """`companions` are the suffixes of files that belong to the database beside its own. `waits_for_locks`: the
        engine sleeps while another process has locked the database; else a lock is an error at once."""
        self._in_memory = is_in_memory(url)
        self._path = Path(MEMORY) if self._in_memory else file_path(url).absolute()
        self._companions = companions
        self._memory_how = memory_how
        self._door = door
        self._numbers = itertools.count(1)
        self._allow_writes = allow_writes
        self._waits_for_locks = waits_for_locks
        self._generation = 0
        self.patience: Patience = Patience(self._look_at_wait)
        self._arguments = (str(self._path), allow_writes, timeout_s)
        if not self._in_memory:
            _check(self._path, url, allow_writes)
        self._host = HostClient(engine_module)
        try:
            facts: Facts = self._host.request("open", *self._arguments, timeout_s=timeout_s + 5.0)
        except QueryTimeout as error:
            self._host.close()
            raise ConnectionFailed(
                f"{redacted(url)} could not be opened within {timeout_s + 5.0:g} s",
                "see whether another process holds it, or allow a longer --connect-timeout",
            ) from error
        except BaseException:
            self._host.close()
            raise
        self._server = Server(
            dbms=dbms,
            version=facts.version,
            settings=facts.settings,
            url=redacted(url),
            local=True,
            data_directory=None if self._in_memory else self._path.parent,
        )
        if self._in_memory:
            self.always_warm = "the database is in memory: it has no file, and closing it loses its tables"

    @property
    def server(self) -> Server:
        return self._server

    def leader(self) -> Leader:
        pid = self._host.pid
        return Leader(pid=pid, tid=pid, how="the engine's own process, started by Tare", whole_process=True)

    def _look_at_wait(self, elapsed_s: float) -> Wait:
        if elapsed_s >= client.OWN_S and local.is_stopped(self._host.pid):
            raise self._host.silent()
        files = [str(path) for path in (*self.data_files(), Path(f"{self._path}-shm"))]
        holding = holders(files, self._host.pid) if self._waits_for_locks else ""
        if holding and local.is_asleep(self._host.pid):
            return Wait(
                f"{self._path.name} is locked, and its engine waits; locks are held by {holding}",
                "end the transaction there",
            )
        return AT_WORK

    def role(self, process: Process, leader: Leader) -> Role | None:
        return Role.QUERY if process.tgid == leader.pid else None

    def explain(self, sql: str) -> Plan:
        explained: Explained = self._host.ask_patiently(self.patience, "explain", sql)
        return Plan(root=_node(explained.tree), text=explained.text)

    def prepare(self, sql: str) -> Prepared:
        number = next(self._numbers)
        inside: str = self._host.ask_patiently(self.patience, "prepare", number, sql)
        return EmbeddedPrepared(self._host, number, inside)

    def run(self, sql: str) -> None:
        self._host.ask_patiently(self.patience, "run", sql, may_work_on=True)

    def repeat(self, sql: str) -> None:
        operation = "run" if self._in_memory else "repeat"  # nothing in memory lasts
        self._host.ask_patiently(self.patience, operation, sql, may_work_on=True)

    def load(self, table: str, file: Path) -> int:
        with loading(table, file):
            return int(self._host.request("load", table, str(file.absolute())))

    def door(self) -> str:
        return self._door

    @property
    def generation(self) -> int:
        return self._generation

    def settings(self) -> Mapping[str, str]:
        found: dict[str, str] = self._host.ask("settings")
        return found

    def data_files(self) -> Sequence[Path]:
        if self._in_memory:
            return []
        candidates = [self._path, *(Path(f"{self._path}{suffix}") for suffix in self._companions)]
        return [path for path in candidates if path.exists()]

    def extent(self) -> Extent | None:
        if not self._allow_writes:
            return None
        extent: Extent = self._host.ask("extent")
        return extent

    def is_own_file(self, path: Path) -> bool:
        """SQLite's shared memory, DuckDB's temporary files, and the modules of the engine's process."""
        return (
            path.name.endswith("-shm")
            or path.name.startswith("duckdb_temp_")
            or path.suffix in (".py", ".pyc")
        )

    def flush(self) -> None:
        """The engine's own checkpoint where it may write, then fsync: clean pages can be let go."""
        self._host.request("flush")
        for path in self.data_files():
            synced(path)

    def clear_buffers(self) -> str:
        self._host.ask("close")
        self._host.ask("open", *self._arguments)
        self._generation += 1
        return "reopening"

    def buffer_residency(self) -> BufferResidency | None:
        held = self._host.ask("held_bytes")
        return None if held is None else BufferResidency(resident_bytes=held, how=self._memory_how)

    def close(self) -> None:
        self._host.close(in_order=self._allow_writes)


def _check(path: Path, url: str, allow_writes: bool) -> None:
    """An engine would make a missing file: we do not."""
    if not path.is_file():
        raise ConnectionFailed(
            f"cannot open {redacted(url)}: there is no file {path}",
            "check the path: three slashes before a relative one, four before an absolute one",
        )
    if not os.access(path, os.R_OK | (os.W_OK if allow_writes else 0)):
        raise ConnectionFailed(
            f"cannot open {redacted(url)}: no right to it", "change the file's permissions"
        )


def _node(tree: tuple[str, dict[str, str], list[Any]]) -> PlanNode:
    operator, detail, children = tree
    return PlanNode(operator, detail, tuple(_node(child) for child in children))
