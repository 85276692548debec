"""One QE as TTPv2 looks at it: its processes by type, and times in ticks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tare.dbms.base import Role
from tare.measure.records import QE, ProcessUse


@dataclass(frozen=True, slots=True)
class Case:
    qe: QE
    query: tuple[ProcessUse, ...]  # the query process, with its parallel workers
    tied: tuple[int, ...]  # pids between which it could not be decided
    tick_ns: int

    def of(self, role: Role) -> tuple[ProcessUse, ...]:
        """Processes of a type. A DBMS process that is not the query process is a utility process."""
        if role is Role.QUERY:
            return self.query
        chosen = {id(p) for p in self.query}
        others = (p for p in self.qe.processes if id(p) not in chosen)
        if role is Role.UTILITY:
            return tuple(p for p in others if p.role in (Role.QUERY, Role.UTILITY))
        return tuple(p for p in others if p.role is role)

    @property
    def wall_ticks(self) -> float | None:
        return None if self.qe.elapsed is None else self.qe.elapsed.wall_ns / self.tick_ns

    @property
    def overall(self) -> Mapping[str, int] | None:
        return None if self.qe.machine is None else self.qe.machine.total

    @property
    def busy_ticks(self) -> int | None:
        """Computation of the whole machine: user + nice + system + irq + softirq."""
        if self.overall is None:
            return None
        return sum(self.overall[k] for k in ("user", "nice", "system", "irq", "softirq"))

    @property
    def threads_that_could_run(self) -> int:
        return max(1, min(sum(p.threads for p in self.query), self.qe.online_cpus))


def cpu_ticks(processes: Iterable[ProcessUse]) -> int:
    return sum(p.user_ticks + p.system_ticks for p in processes)


def block_io_ticks(processes: Iterable[ProcessUse], tick_ns: int) -> int | None:
    """Block-I/O delay as /proc/PID/stat shows it: whole ticks of each process. None if any is unknown."""
    total = 0
    for process in processes:
        if process.block_io_ns is None:
            return None
        total += process.block_io_ns // tick_ns
    return total
