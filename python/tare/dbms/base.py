"""Interface of an adapter: all that `measure` knows of a DBMS."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tare.dbms.extent import Extent
from tare.dbms.patience import Patience
from tare.dbms.planned import Planned
from tare.errors import StatementFailed, UsageError

if TYPE_CHECKING:  # adapters, and the engines' host process, run without the extension
    from tare._probe import Exit, Process


class Role(StrEnum):
    """Role of a process in a QE (TTPv2 §7.1)."""

    QUERY = "query"  # runs the query
    UTILITY = "utility"  # any other process of the DBMS
    EXECUTOR = "executor"  # ours
    DAEMON = "daemon"  # neither DBMS nor executor


@dataclass(frozen=True, slots=True)
class Server:
    """The DBMS as it was found: recorded with each run."""

    dbms: str  # "postgresql", "mariadb", "mysql", "sqlite", "duckdb"
    version: str
    settings: Mapping[str, str]  # those that matter to a measurement
    url: str  # without its password
    local: bool  # its processes are on this machine and can be seen
    data_directory: Path | None = None  # None if unknown or unreadable


@dataclass(frozen=True, slots=True)
class Leader:
    """The process, and the thread of it, that answers for this connection."""

    pid: int
    tid: int  # equals pid where the DBMS has a process per connection
    how: str  # how it is known: "pg_backend_pid()", "information_schema.processlist.tid", …
    whole_process: bool  # every thread of pid works for the query (embedded engines)


@dataclass(frozen=True, slots=True)
class PlanNode:
    """An operator. `detail` holds what names the plan: relations, indexes, join
    kinds, keys. Costs, row estimates and literals are not in it."""

    operator: str
    detail: Mapping[str, str] = field(default_factory=dict)
    children: tuple[PlanNode, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "operator": self.operator,
            "detail": dict(self.detail),
            "children": [child.as_json() for child in self.children],
        }

    def renamed(self, names: Mapping[str, str]) -> PlanNode:
        """With words of `detail` replaced."""
        word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
        return PlanNode(
            self.operator,
            {key: word.sub(lambda found: names[found.group()], text) for key, text in self.detail.items()},
            tuple(child.renamed(names) for child in self.children),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    root: PlanNode
    text: str  # the DBMS's own EXPLAIN, for a reader

    @property
    def fingerprint(self) -> str:
        """16 hex digits; equal for plans that differ only in costs and literals."""
        canonical = json.dumps(self.root.as_json(), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def renamed(self, names: Mapping[str, str]) -> Plan:
        """The plan with relations called otherwise; the DBMS's own text stays as it is."""
        return Plan(self.root.renamed(names), self.text) if names else self


@dataclass(frozen=True, slots=True)
class BufferResidency:
    """How much of the database the DBMS itself holds in memory."""

    resident_bytes: int
    how: str  # "pg_buffercache", "innodb_buffer_pool_stats", …


class Fetched(ABC):
    """A received result. Turning it into rows is left for after the clock."""

    planned: Planned | None = None
    """Clocks between planning and execution; None where the statement was prepared before, or is not split."""

    @property
    def single_precision(self) -> frozenset[int]:
        """Columns, from 0, whose floating-point values are of single precision."""
        return frozenset()

    @property
    def size_bytes(self) -> int | None:
        """Size of an answer that was received as bytes (COPY … TO STDOUT); None for one of rows."""
        return None

    @property
    def made_relation(self) -> bool:
        """Whether the statement made what it names, so that the DBMS may not explain it again until this is dropped."""
        return False

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Rows returned, or rows affected by a statement that returns none."""

    @abstractmethod
    def rows(self) -> Iterator[Sequence[object]]:
        """Rows to compare: numbers, booleans, bytes and containers of them as Python's, every other value as Python's
        or as the DBMS's own text, the same way in each execution of a query."""


class Prepared(ABC):
    """A statement that the server has checked and, where it can, planned. A clock times one of its two executions."""

    planning_inside: str = ""
    """Reason for which `plan_and_execute` does not split planning from execution; empty where it does."""

    def limit(self, timeout_s: float | None) -> None:
        """Gives the server the time-out of the next execution, before the clock. Does nothing where it needs none."""
        return

    @abstractmethod
    def execute(self, timeout_s: float | None) -> Fetched:
        """Runs what is prepared and receives the whole result, no more: the paper's measure.

        Raises QueryTimeout, StatementFailed or ServerLost."""

    @abstractmethod
    def plan_and_execute(self, timeout_s: float | None) -> Fetched:
        """Parses, plans and runs the statement's text and receives the whole result: what a client pays.

        Sets `Fetched.planned` where the DBMS shows the end of planning. Raises as `execute`."""

    @abstractmethod
    def close(self) -> None: ...


class Session(ABC):
    """A connection, held for all the QEs of a Q@C."""

    patience: Patience | None = None
    """Limit and reports of statements that no clock times; None where they need none."""

    always_warm: str = ""
    """Reason for which no cache of this database can be emptied; empty where it can."""

    no_leader: str = ""
    """Reason for which `leader` returned None; empty where the server's processes are not on this machine."""

    @property
    @abstractmethod
    def server(self) -> Server: ...

    @abstractmethod
    def leader(self) -> Leader | None:
        """None if the server is on another machine, or for the reason in `no_leader`."""

    @abstractmethod
    def role(self, process: Process, leader: Leader) -> Role | None:
        """QUERY or UTILITY for a process of this DBMS, None for any other."""

    def exit_role(self, exit_: Exit, leader: Leader) -> Role | None:
        """The same for a process that ended (parallel workers end with the query)."""
        return self.role(exit_.process, leader)

    def worker_parents(self, leader: Leader) -> Sequence[int]:
        """Processes whose new children may work for the query (PostgreSQL's postmaster)."""
        return ()

    def limit_waits(self, timeout_s: float | None, report: Callable[[str], None]) -> None:
        """Limit statements that no clock times to `timeout_s`, and report what they wait for. None: no limit."""
        if self.patience is not None:
            self.patience.timeout_s = timeout_s
            self.patience.report = report

    @abstractmethod
    def explain(self, sql: str) -> Plan: ...

    @abstractmethod
    def prepare(self, sql: str) -> Prepared:
        """Raises BadStatement for empty SQL, several statements, or a statement
        that changes data where the session was opened without `allow_writes`."""

    def plan_of(self, prepared: Prepared, sql: str) -> Plan:
        """The plan that the next execution of `prepared` runs. The paper had to explain the text
        anew (TTPv2 §3.2.3), and so does this; a DBMS that can explain what is prepared does better."""
        return self.explain(sql)

    @abstractmethod
    def run(self, sql: str) -> None:
        """A set-up statement, outside all clocks (also several, split by the DBMS)."""

    def repeat(self, sql: str) -> None:
        """Runs what `run` has run in an earlier session, again: all of it, except what lasts and is there already.

        A session without `allow_writes` changes nothing that lasts: there, this is `run`. Else the DBMS itself decides
        what lasts, as far as it can: what it refuses in a read-only transaction."""
        self.run(sql)

    def load(self, table: str, file: Path) -> int:
        """Fills a table from CSV by the DBMS's fastest door, in one transaction; how many rows it took.

        `file`, which may be a pipe, is read once from its start to its end, here and not by the server: UTF-8, no
        header, commas between values, a line feed behind each line, `"` around values that hold a comma, a quote or a
        line's end, and around the word NULL. Empty, in quotes or not: NULL.
        The session must have been opened with `allow_writes`. Raises StatementFailed or ServerLost, perhaps before
        `file` was opened; no row was taken then."""
        raise StatementFailed(
            f"Tare knows no way to load files into {self.server.dbms}", "load the table by other means"
        )

    def door(self) -> str:
        """Return the way that `load` takes, in words; where the fastest way is closed, also why."""
        return "none"

    @property
    def generation(self) -> int:
        """Sessions of the DBMS that this one has had so far, less one: another after `clear_buffers` had to
        open it again. What was set in the earlier one is gone."""
        return 0

    def settings(self) -> Mapping[str, str]:
        """Settings, variables and attached databases of this session, as far as the DBMS shows them. Those that change
        by themselves, and Tare's own, are left out."""
        return {}

    def keeps_results(self) -> bool:
        """Whether a cache of results is on in this session: a repeated query may then not be executed at all."""
        return False

    # Caches -------------------------------------------------------------
    @abstractmethod
    def data_files(self) -> Sequence[Path]:
        """The files that hold this database's pages, for the page cache's sake."""

    def file_names(self) -> Mapping[Path, str]:
        """Names of the database's files for a reader: the table or index that a file holds, else its own name."""
        return {path: path.name for path in self.data_files()}

    def is_own_file(self, path: Path) -> bool:
        """Whether a file that a query's process has open serves the DBMS's own work (logs, temporary files, status)
        and holds no data of a query."""
        return False

    def extent(self) -> Extent | None:
        """Size of the database that the next execution meets. Takes no lock that waits and reads no table.

        None where the session was opened without `allow_writes`: nothing of its own changes there."""
        return None

    @abstractmethod
    def flush(self) -> None:
        """Writes dirty pages out, so that the page cache can let them go (CHECKPOINT)."""

    @abstractmethod
    def clear_buffers(self) -> str:
        """Empties the DBMS's own caches and says how ("restart", …). The session
        stays usable, but its leader may be another and what was prepared is gone.

        Raises CacheNotCleared with what would make it possible."""

    def buffer_residency(self) -> BufferResidency | None:
        return None

    def check_restart(self) -> None:
        """Raises UsageError where Tare may not restart the server of this session."""
        raise UsageError(
            f"{self.server.dbms} has no server that could be restarted: each session runs in a process of its own",
            "leave --blocks out",
        )

    def restart(self) -> None:
        """Restart the server, after `check_restart`. All of its sessions end, this one too.

        Raises CacheNotCleared or ServerFailed where it does not come back."""
        self.check_restart()

    @abstractmethod
    def close(self) -> None: ...


class Adapter(ABC):
    """A DBMS. Found by URL scheme through the entry-point group `tare.dbms`."""

    name: str
    schemes: tuple[str, ...]

    @abstractmethod
    def connect(
        self, url: str, *, timeout_s: float = 10.0, allow_writes: bool = False, allow_restart: bool = False
    ) -> Session:
        """Raises ConnectionFailed, MissingDriver or UsageError. The password never
        appears in what is raised. Without `allow_writes` the DBMS itself is told to
        refuse changes. `allow_restart` permits restarting a server that Tare did
        not start."""

    def statements(self, sql: str) -> list[str]:
        """Split a script into its statements by the rules of the DBMS. A comment stays with the statement after it.

        The text is not parsed: it may have placeholders, and a script that cannot be read is one statement."""
        from tare.dbms.scripts import statements  # 0.1 s

        return statements(sql, "")
