"""Process that ran the query (TTPv2 §7.2).

Two ways. *told*: the server names the backend and the adapter gave it, with its parallel workers,
the role QUERY. *paper*: among the DBMS's processes that are in every QE of the Q@C, the one with
the highest total of user and system ticks over all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tare.dbms.base import Role
from tare.measure.records import QE, ProcessUse

Way = Literal["told", "paper"]


@dataclass(frozen=True, slots=True)
class Identified:
    """The query processes of each QE, in the order of the QEs given."""

    way: Way
    how: str
    processes: tuple[tuple[ProcessUse, ...], ...]
    tied: tuple[int, ...]  # pids that share the highest total, where there are several


def identify(qes: Sequence[QE], way: Way | None = None) -> Identified:
    """By what the server told if it told it in every QE, else the paper's way; or by the `way` asked for."""
    if way is None:
        way = "told" if qes and all(qe.leader_pid is not None for qe in qes) else "paper"
    return _told(qes) if way == "told" else _paper(qes)


def _told(qes: Sequence[QE]) -> Identified:
    processes = tuple(tuple(p for p in qe.processes if p.role is Role.QUERY) for qe in qes)
    return Identified("told", qes[0].leader_how if qes else "", processes, ())


def _paper(qes: Sequence[QE]) -> Identified:
    candidates = [
        {p.pid: p for p in qe.processes if p.role in (Role.QUERY, Role.UTILITY)}
        for qe in qes
    ]  # fmt: skip
    everywhere = set.intersection(*(set(c) for c in candidates)) if candidates else set()
    total: Counter[int] = Counter()
    for seen in candidates:
        for pid in everywhere:
            total[pid] += seen[pid].user_ticks + seen[pid].system_ticks
    how = "highest user + system ticks among the DBMS's processes in every QE"
    if not everywhere:
        return Identified("paper", how, tuple(() for _ in qes), ())
    highest = max(total.values())
    first, *others = sorted(pid for pid in everywhere if total[pid] == highest)
    return Identified(
        "paper", how, tuple((seen[first],) for seen in candidates), (first, *others) if others else ()
    )
