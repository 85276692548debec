"""The measures of one QE, and of one Q@C, in plain Python: what `derived` has of a whole lab.

By the same names, so that the same checks judge them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.dbms.base import Role
from tare.measure.records import QE, Fate, Outcome, ProcessUse
from tare.protocol.named import complete, deviation
from tare.protocol.quantities import COUNTS, DEFINED, EXACT, NS_PER_MS, TICK_COUNTERS, WHOLE_TICKS


@dataclass(frozen=True, slots=True)
class Case:
    """A QE as TTPv2 reads it: its processes by type."""

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


def measures_of(case: Case) -> dict[str, Any]:
    """Return the measures of a QE that checks may use."""
    qe, tick_ns = case.qe, case.tick_ns
    elapsed, overall = qe.elapsed, case.overall
    values: dict[str, Any] = {
        "outcome": qe.outcome.value,
        "wall_ns": elapsed.wall_ns if elapsed else None,
        "tick_ns": tick_ns,
        "online_cpus": qe.online_cpus,
        "unaccounted_births": qe.unaccounted_births,
        "exit_records_lost": qe.exits_lost or 0,
        "tied": len(case.tied),
        "tied_low": min(case.tied, default=None),
        "tied_high": max(case.tied, default=None),
        **{f"overall_{mode}": ticks for mode, ticks in (overall or {}).items()},
        **_of_all(qe.processes),
    }
    for role in (Role.QUERY, Role.UTILITY, Role.DAEMON, Role.EXECUTOR):
        values |= _of_type(role.value, case.of(role), tick_ns)
    values |= _of_query(case.query, tick_ns)
    return complete(values, DEFINED)


def _of_all(processes: Sequence[ProcessUse]) -> dict[str, int]:
    active = [p for p in processes if p.user_ticks + p.system_ticks > 0]
    return {
        "processes": len(processes),
        "active_processes": len(active),
        "active_cpu_ticks": sum(p.user_ticks + p.system_ticks for p in active),
        "stopped_processes": sum(p.fate in (Fate.STOPPED, Fate.UNSEEN_END) for p in processes),
        "phantom_processes": sum(p.fate is Fate.PHANTOM for p in processes),
    }


def _of_type(kind: str, processes: Sequence[ProcessUse], tick_ns: int) -> dict[str, int | None]:
    sums: dict[str, int | None] = {f"{kind}_processes": len(processes)}
    for name in (*TICK_COUNTERS, *COUNTS):
        sums[f"{kind}_{name}"] = _sum(getattr(p, name) for p in processes)
    for name, counter in WHOLE_TICKS.items():
        sums[f"{kind}_{name}"] = _sum(_ticks(getattr(p, counter), tick_ns) for p in processes)
    return sums


def _of_query(query: Sequence[ProcessUse], tick_ns: int) -> dict[str, Any]:
    delays = [_ticks(p.block_io_ns, tick_ns) for p in query]
    longest = [None if d is None else d / max(1, p.threads) for d, p in zip(delays, query, strict=True)]
    switched = [_never_switched(p) for p in query]
    return {
        "query_threads": sum(p.threads for p in query),
        "query_longest_block_io": None if None in longest else max(longest, default=0),  # type: ignore[type-var]
        "query_never_switched": _sum(switched),
        **{f"query_{name}": _sum(getattr(p, name) for p in query) for name in EXACT},
    }


def _never_switched(process: ProcessUse) -> int | None:
    """1 for a process that waited for block I/O and never gave up its CPU."""
    if process.block_io_ns is None or process.voluntary_switches is None:
        return None
    return int(process.block_io_ns > 0 and process.voluntary_switches == 0)


def _ticks(ns: int | None, tick_ns: int) -> int | None:
    return None if ns is None else ns // tick_ns


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(v for v in known if v is not None)


def measures_of_qatc(qes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the measures of a Q@C that checks may use: of its QEs that ran to their end, given in run order."""
    ended = [qe for qe in qes if qe["outcome"] == Outcome.OK.value]
    used = [qe["query_cpu_ticks"] for qe in ended if qe["query_cpu_ticks"] is not None]
    cpu_ms = [qe["query_run_ns"] / NS_PER_MS for qe in ended if qe["query_run_ns"] is not None]
    walls = [qe["wall_ticks"] for qe in ended if qe["wall_ticks"] is not None]
    values: dict[str, Any] = {"ended_qes": len(ended)}
    if used:
        values["computation_mean"] = sum(used) / len(used)
    if len(used) > 1:
        values["computation_sd"] = deviation(len(used), sum(used), sum(u * u for u in used))
    if len(cpu_ms) == len(ended) > 2:
        values |= {"first_cpu_ms": cpu_ms[0], "later_cpu_max_ms": max(cpu_ms[1:])}
    if len(walls) == len(ended) > 2:
        first, later = walls[0], walls[1:]
        values |= {
            "first_wall": first,
            "later_wall_max": max(later),
            "later_wall_mean": statistics.fmean(later),
            "later_wall_sd": statistics.stdev(later),
        }
    return values
