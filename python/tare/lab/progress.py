"""How far a run is: all that an executor needs to go on where the last one stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from tare.errors import NoSuchRun
from tare.lab.ids import experiment_id
from tare.lab.rows import COUNTING
from tare.lab.schema import dbms, experiment, machine, qatc, qe, query, run
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab
from tare.measure.records import Outcome


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Row of a run, with the names of its experiment, DBMS and machine."""

    id: int
    uuid: str
    experiment: str
    scenario: str
    specification: str  # the TOML as it was given
    specification_hash: str
    dbms: str
    dbms_version: str
    dbms_settings: Mapping[str, str]
    machine: Mapping[str, Any]
    state: RunState
    said: str | None
    url: str
    started_at: str
    ended_at: str | None
    heartbeat_at: str | None
    executor: str | None
    cache: str
    qes_per_qatc: int
    timeout_ns: int | None
    tick_ns: int
    online_cpus: int
    tier: str
    tare: str
    means: Mapping[str, str]
    deviations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as lists show it."""

    run: RunFacts
    queries: int
    failed_queries: int
    qatcs: int  # visited
    timed_qatcs: int
    failed_qatcs: int
    qes: int  # that count: of the last attempts, no warm-up, ended well or timed out


@dataclass(frozen=True, slots=True)
class VisitDone:
    """A Q@C that the walk has reached."""

    qatc_id: int
    visit: int
    cardinality: int
    state: QatCState
    said: str | None
    attempt: int
    plan_fingerprint: str
    timed: bool  # its QEs are wanted, whether or not all are there
    done: frozenset[int]  # numbers of the QEs of the last attempt that count
    answer: tuple[int | None, str] | None  # rows and hash of the first QE that ended well


@dataclass(frozen=True, slots=True)
class QueryDone:
    id: int
    number: int
    name: str
    sql: str
    error: str | None
    visits: tuple[VisitDone, ...]  # in the order of the walk


@dataclass(frozen=True, slots=True)
class Progress:
    run: RunFacts
    queries: tuple[QueryDone, ...]  # by number
    next_run_order: int


def progress(lab: Lab, run_id: int) -> Progress:
    """Return a consistent state of the run, also while it is written. Raises NoSuchRun."""
    with lab.reading() as connection:
        facts = _facts_of(connection, lab, run_id)
        visits = _visits(connection, run_id)
        found = connection.execute(
            select(query).where(query.c.run_id == run_id).order_by(query.c.number)
        ).all()
        last = connection.scalar(select(func.max(qe.c.run_order)).where(qe.c.run_id == run_id))
    return Progress(
        run=facts,
        queries=tuple(
            QueryDone(row.id, row.number, row.name, row.sql, row.error, tuple(visits.get(row.id, ())))
            for row in found
        ),
        next_run_order=0 if last is None else last + 1,
    )


def run_facts(lab: Lab, run_id: int) -> RunFacts:
    """The run's row alone. Raises NoSuchRun."""
    with lab.reading() as connection:
        return _facts_of(connection, lab, run_id)


def runs(lab: Lab) -> list[RunSummary]:
    """Every run of the lab, oldest first."""
    with lab.reading() as connection:
        facts = [_facts(row) for row in connection.execute(_runs().order_by(run.c.id))]
        asked = _by_run(connection, select(query.c.run_id, func.count(), func.count(query.c.error)), query)
        visited = _by_run(
            connection,
            select(
                qatc.c.run_id,
                func.count(),
                func.count().filter(qatc.c.state == QatCState.TIMED.value),
                func.count().filter(qatc.c.state == QatCState.FAILED.value),
            ),
            qatc,
        )
        weighed = _by_run(
            connection,
            select(qe.c.run_id, func.count()).join(qatc, qatc.c.id == qe.c.qatc_id).where(_counts()),
            qe,
        )
    summaries = []
    for one in facts:
        queries, failed_queries = asked.get(one.id, (0, 0))
        qatcs, timed, failed = visited.get(one.id, (0, 0, 0))
        (qes,) = weighed.get(one.id, (0,))
        summaries.append(RunSummary(one, queries, failed_queries, qatcs, timed, failed, qes))
    return summaries


def _by_run(connection: Connection, counts: Select[Any], table: Any) -> dict[int, tuple[int, ...]]:
    return {row[0]: tuple(row[1:]) for row in connection.execute(counts.group_by(table.c.run_id))}


def _counts() -> Any:
    return (
        (qe.c.attempt == qatc.c.attempt)
        & qe.c.number.is_not(None)
        & qe.c.warmup.is_(False)
        & qe.c.outcome.in_([outcome.value for outcome in COUNTING])
    )


def _runs() -> Select[Any]:
    return (
        select(
            run,
            experiment.c.name.label("experiment"),
            experiment.c.scenario,
            experiment.c.specification,
            experiment.c.specification_hash,
            dbms.c.name.label("dbms"),
            dbms.c.version.label("dbms_version"),
            dbms.c.settings.label("dbms_settings"),
            machine.c.facts.label("machine"),
        )
        .join(experiment, experiment.c.id == run.c.experiment_id)
        .join(dbms, dbms.c.id == run.c.dbms_id)
        .join(machine, machine.c.id == run.c.machine_id)
    )


def _facts_of(connection: Connection, lab: Lab, run_id: int) -> RunFacts:
    row = connection.execute(_runs().where(run.c.id == run_id)).first()
    if row is None:
        raise NoSuchRun(
            f"the lab {lab.where} has no run {experiment_id(run_id)}",
            "`tare lab list` names those it has",
        )
    return _facts(row)


def _facts(row: Row[Any]) -> RunFacts:
    found = {name: row._mapping[name] for name in RunFacts.__dataclass_fields__}
    return RunFacts(**{**found, "state": RunState(row.state), "deviations": tuple(row.deviations)})


def _visits(connection: Connection, run_id: int) -> dict[int, list[VisitDone]]:
    """By query."""
    done: dict[int, set[int]] = {}
    counting = (
        select(qe.c.qatc_id, qe.c.number)
        .join(qatc, qatc.c.id == qe.c.qatc_id)
        .where(qe.c.run_id == run_id, _counts())
    )
    for qatc_id, number in connection.execute(counting):
        done.setdefault(qatc_id, set()).add(number)
    answers: dict[int, tuple[int | None, str]] = {}
    ended_well = (
        select(qe.c.qatc_id, qe.c.row_count, qe.c.answer_hash)
        .where(qe.c.run_id == run_id, qe.c.outcome == Outcome.OK.value, qe.c.answer_hash.is_not(None))
        .order_by(qe.c.run_order)
    )
    for qatc_id, row_count, answer_hash in connection.execute(ended_well):
        answers.setdefault(qatc_id, (row_count, answer_hash))
    visits: dict[int, list[VisitDone]] = {}
    walked = select(qatc).where(qatc.c.run_id == run_id).order_by(qatc.c.query_id, qatc.c.visit)
    for row in connection.execute(walked).all():
        visits.setdefault(row.query_id, []).append(
            VisitDone(
                qatc_id=row.id,
                visit=row.visit,
                cardinality=row.cardinality,
                state=QatCState(row.state),
                said=row.said,
                attempt=row.attempt,
                plan_fingerprint=row.plan_fingerprint,
                timed=row.state != QatCState.SAME_PLAN.value,
                done=frozenset(done.get(row.id, ())),
                answer=answers.get(row.id),
            )
        )
    return visits
