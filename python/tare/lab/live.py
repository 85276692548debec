"""A lab as an observer reads it, also while runs are recorded: few rows of any table, however long a run is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sqlalchemy import Connection, case, distinct, func, select

from tare.lab.rows import COUNTING
from tare.lab.schema import OVERALL_TICKS, process, qatc, qe, query
from tare.lab.states import QatCState
from tare.lab.store import Lab

RECENT_QATCS = 50
"""Q@Cs whose pace tells the time left."""

SHOWN_QATCS = 20
SHOWN_QES = 30
SHOWN_RUNNERS = 8
DRAWN_QES = 1500

_COUNTING = [outcome.value for outcome in COUNTING]


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of a run. `recorded`: executions, warm-ups and failed tries too."""

    recorded: int = 0
    visited: int = 0
    timed: int = 0
    failed: int = 0
    queries: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Execution:
    """A QE. Ticks are of the machine's CPU time meanwhile, over all CPUs: how many passed, how many were not idle,
    how many other guests of the host took. None: not measured."""

    order: int
    query: str
    cardinality: int
    number: int | None  # None: a warm-up, or a try that does not count
    warmup: bool
    outcome: str
    error: str | None
    started_at: str
    wall_ns: int | None
    cpu_ns: int | None  # the leader's
    ticks: int | None
    busy_ticks: int | None
    stolen_ticks: int | None


@dataclass(frozen=True, slots=True)
class QueryLive:
    """How far a query is. `plans`: different ones over its cardinalities."""

    name: str
    error: str | None
    visited: int
    timed: int
    failed: int
    plans: int
    smallest: int | None  # cardinality visited so far


@dataclass(frozen=True, slots=True)
class QatCLive:
    """Q@C with the wall times, in ns, of those of its QEs that count, before any protocol excludes one."""

    query: str
    cardinality: int
    state: QatCState
    attempt: int
    wall_ns: Sequence[int]


@dataclass(frozen=True, slots=True)
class Runner:
    """Processes of one name that ran during the last executions, with the CPU time they had, in ns."""

    comm: str
    role: str  # dbms.base.Role
    run_ns: int


@dataclass(frozen=True, slots=True)
class RunLive:
    queries: Sequence[QueryLive]
    qatcs: Sequence[QatCLive]  # those that are timed, newest first
    executions: Sequence[Execution]  # newest first
    pace_s: Sequence[float]  # durations of the last visits, pauses included
    runners: Sequence[Runner]  # over the last SHOWN_QES executions, most CPU time first


def run_counts(lab: Lab, runs: Sequence[int]) -> Mapping[int, RunCounts]:
    """Return the counts of these runs by their numbers. Raises LabError."""
    with lab.reading() as connection:
        return {run_id: _counts(connection, run_id) for run_id in runs}


def _counts(connection: Connection, run_id: int) -> RunCounts:
    last = connection.scalar(select(func.max(qe.c.run_order)).where(qe.c.run_id == run_id))
    visited = connection.execute(
        select(
            func.count(case((qatc.c.state != QatCState.PENDING.value, 1))),
            func.count(case((qatc.c.state == QatCState.TIMED.value, 1))),
            func.count(case((qatc.c.state == QatCState.FAILED.value, 1))),
        ).where(qatc.c.run_id == run_id)
    ).one()
    asked = connection.execute(
        select(func.count(), func.count(query.c.error)).where(query.c.run_id == run_id)
    ).one()
    return RunCounts(0 if last is None else last + 1, *visited, *asked)


def run_live(lab: Lab, run_id: int) -> RunLive:
    """Return what a run has done lately. Raises LabError."""
    with lab.reading() as connection:
        newest = connection.execute(
            select(qatc.c.id).where(qatc.c.run_id == run_id).order_by(qatc.c.id.desc()).limit(RECENT_QATCS)
        ).scalars()
        recent = list(newest)
        timed = list(
            connection.execute(
                select(qatc.c.id)
                .where(qatc.c.run_id == run_id, qatc.c.state != QatCState.SAME_PLAN.value)
                .order_by(qatc.c.id.desc())
                .limit(SHOWN_QATCS)
            ).scalars()
        )
        return RunLive(
            _queries(connection, run_id),
            _qatcs(connection, timed),
            _executions(connection, run_id),
            _pace(connection, recent),
            _runners(connection, run_id),
        )


def _queries(connection: Connection, run_id: int) -> list[QueryLive]:
    is_over = qatc.c.state != QatCState.PENDING.value
    rows = connection.execute(
        select(
            query.c.name,
            query.c.error,
            func.count(case((is_over, 1))),
            func.count(case((qatc.c.state == QatCState.TIMED.value, 1))),
            func.count(case((qatc.c.state == QatCState.FAILED.value, 1))),
            func.count(distinct(qatc.c.plan_fingerprint)),
            func.min(qatc.c.cardinality),
        )
        .select_from(query)
        .outerjoin(qatc, qatc.c.query_id == query.c.id)
        .where(query.c.run_id == run_id)
        .group_by(query.c.id, query.c.number, query.c.name, query.c.error)
        .order_by(query.c.number)
    )
    return [QueryLive(*row) for row in rows]


def _qatcs(connection: Connection, ids: Sequence[int]) -> list[QatCLive]:
    walls: dict[int, list[int]] = {}
    for qatc_id, wall in connection.execute(
        select(qe.c.qatc_id, qe.c.wall_ns)
        .join(qatc, (qatc.c.id == qe.c.qatc_id) & (qatc.c.attempt == qe.c.attempt))
        .where(qe.c.qatc_id.in_(ids), qe.c.number.is_not(None), qe.c.outcome.in_(_COUNTING))
        .order_by(qe.c.qatc_id, qe.c.number)
    ):
        if wall is not None:
            walls.setdefault(qatc_id, []).append(wall)
    rows = connection.execute(
        select(qatc, query.c.name)
        .join(query, query.c.id == qatc.c.query_id)
        .where(qatc.c.id.in_(ids))
        .order_by(qatc.c.id.desc())
    )
    return [
        QatCLive(
            row.name,
            row.cardinality,
            QatCState(row.state),
            row.attempt,
            walls.get(row.id, ()),
        )
        for row in rows
    ]


def _executions(connection: Connection, run_id: int) -> list[Execution]:
    ticks = [qe.c[f"overall_{name}"] for name in OVERALL_TICKS]
    rows = connection.execute(
        select(
            qe.c.run_order,
            query.c.name,
            qatc.c.cardinality,
            qe.c.number,
            qe.c.warmup,
            qe.c.outcome,
            qe.c.error,
            qe.c.started_at,
            qe.c.wall_ns,
            qe.c.leader_cpu_ns,
            *ticks,
        )
        .join(qatc, qatc.c.id == qe.c.qatc_id)
        .join(query, query.c.id == qatc.c.query_id)
        .where(qe.c.run_id == run_id)
        .order_by(qe.c.run_order.desc())
        .limit(DRAWN_QES)
    )
    return [Execution(*row[:10], *_ticks(row[10:])) for row in rows]


def _ticks(counts: Sequence[int | None]) -> tuple[int | None, int | None, int | None]:
    """All, busy and stolen ticks."""
    # Time of guests is part of user and nice.
    own = {name: n for name, n in zip(OVERALL_TICKS, counts, strict=True) if not name.startswith("guest")}
    known = {name: n for name, n in own.items() if n is not None}
    if len(known) < len(own):
        return None, None, None
    total = sum(known.values())
    return total, total - known["idle"] - known["iowait"], known["steal"]


def _pace(connection: Connection, recent: Sequence[int]) -> list[float]:
    """Seconds between the first executions of neighbouring visits, which were timed or not."""
    begun = connection.execute(
        select(qe.c.qatc_id, func.min(qe.c.started_at)).where(qe.c.qatc_id.in_(recent)).group_by(qe.c.qatc_id)
    ).all()
    instants = sorted(datetime.fromisoformat(row[1]).timestamp() for row in begun)
    return [later - earlier for earlier, later in pairwise(instants)]


def _runners(connection: Connection, run_id: int) -> list[Runner]:
    last = (
        select(qe.c.id)
        .where(qe.c.run_id == run_id)
        .order_by(qe.c.run_order.desc())
        .limit(SHOWN_QES)
        .subquery()
    )
    ran = func.sum(func.coalesce(process.c.run_ns, process.c.user_ns + process.c.system_ns))
    rows = connection.execute(
        select(process.c.comm, process.c.role, ran)
        .join(last, last.c.id == process.c.qe_id)
        .group_by(process.c.comm, process.c.role)
        .having(ran > 0)
        .order_by(ran.desc())
        .limit(SHOWN_RUNNERS)
    )
    return [Runner(comm, role, int(run_ns)) for comm, role, run_ns in rows]
