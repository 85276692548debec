"""Processes that worked for a query beside its leader and the DBMS's own workers, and those that may have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tare.measure.records import QE, Relation


@dataclass(frozen=True, slots=True)
class Helper:
    """Processes of one name and relation to the query."""

    comm: str
    relation: Relation
    pids: tuple[int, ...]
    run_ms: float  # mean of all QEs


def helpers(qes: Sequence[QE]) -> tuple[Helper, ...]:
    """Return groups of processes by run time, highest first."""
    run: defaultdict[tuple[str, Relation], int] = defaultdict(int)
    pids: defaultdict[tuple[str, Relation], set[int]] = defaultdict(set)
    for qe in qes:
        for process in qe.processes:
            if process.relation is not None:
                key = (process.comm, process.relation)
                run[key] += process.run_ns or 0
                pids[key].add(process.pid)
    ranked = sorted(run, key=lambda key: (-run[key], *key))
    return tuple(
        Helper(comm, relation, tuple(sorted(pids[comm, relation])), run[comm, relation] / len(qes) / 1e6)
        for comm, relation in ranked
    )
