"""A QE as TTPv2 reads it: its processes by type."""

from __future__ import annotations

from collections.abc import Mapping
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
    def overall(self) -> Mapping[str, int] | None:
        return None if self.qe.machine is None else self.qe.machine.total
