"""A server, a session and a tracer that exist in this process only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tare.dbms.base import Leader, Server
from tests.unit.os.planted import Snapshot, Thread

if TYPE_CHECKING:
    from tare.dbms.base import Session


class Tracer:
    """Each snapshot has 1 ms more on a CPU. `refusal`: raised by the constructor."""

    absent: ClassVar[dict[str, str]] = {}
    refusal: OSError | None = None
    running = 0
    started = 0

    def __init__(self, level: str, nodes: Sequence[Sequence[int]]) -> None:
        if Tracer.refusal is not None:
            raise Tracer.refusal
        Tracer.running += 1
        Tracer.started += 1
        self.nodes = nodes
        self.at_ms = 0

    def snapshot(self, patience_s: float = 0.0) -> Snapshot:
        self.at_ms += 1
        ns = self.at_ms * 1_000_000
        threads = [
            Thread(processes[0], node=node, comm="server", present_ns=ns, on_cpu_ns=ns)
            for node, processes in enumerate(self.nodes)
        ]
        return Snapshot(ns, threads)

    def stop(self) -> None:
        Tracer.running -= 1


@dataclass
class PlannedClock:
    """Time that passes only where it is spent. It stands for the module `time`."""

    ns: int = 0

    def monotonic_ns(self) -> int:
        return self.ns

    def monotonic(self) -> float:
        return self.ns / 1e9

    def sleep(self, seconds: float) -> None:
        self.ns += math.ceil(seconds * 1e9)


class Prepared:
    def __init__(self, execute: Callable[[], None]) -> None:
        self._execute = execute

    def limit(self, timeout_s: float | None) -> None:
        return

    def plan_and_execute(self, timeout_s: float | None) -> Any:
        self._execute()

    def close(self) -> None:
        return


class FakeSession:
    """`execute` receives the SQL of each execution."""

    no_leader = ""
    always_warm = ""
    generation = 0

    def __init__(self, pid: int, execute: Callable[[str], None]) -> None:
        self.server = Server("postgresql", "18.4", {}, "postgresql://here/shop", local=True)
        self._pid = pid
        self._execute = execute
        self.is_closed = False

    def leader(self) -> Leader:
        return Leader(self._pid, self._pid, "", whole_process=False)

    def worker_parents(self, leader: Leader) -> Sequence[int]:
        return ()

    def data_files(self) -> Sequence[Path]:
        return ()

    def file_names(self) -> Mapping[Path, str]:
        return {}

    def prepare(self, sql: str) -> Prepared:
        return Prepared(lambda: self._execute(sql))

    def plan_of(self, prepared: Prepared, sql: str) -> None:
        return

    def close(self) -> None:
        self.is_closed = True


def session(pid: int, execute: Callable[[str], None]) -> Session:
    return cast("Session", FakeSession(pid, execute))


def probe_error(text: str) -> OSError:
    """An error as the probe raises it: cause and next step in one text."""
    return OSError(1, text)
