"""A query execution, exactly in the order of TTPv2 §7.1 and Figures 4 and 5.

start of the exit records → plan check → caches → per-process snapshot →
overall snapshot → clock → execute and fetch → clock → overall snapshot →
stopped processes → per-process snapshot → end of the exit records → record.
EXPLAIN runs once more right after (§3.2.3), except for a statement that has made a table: it is there by then.

The paper prepares a statement once and clocks its executions. Where planning is clocked, too
(`Clocked.TOTAL`), what is executed is the statement's text, and the clocks are read once more
between planning and execution.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from tare._probe import Exit, ExitListener, Machine, Process, Snapshot, Timeline
from tare.dbms.base import Fetched, Plan, Prepared, Role
from tare.dbms.planned import cpu_time_ns
from tare.errors import BadStatement, QueryTimeout, TareError
from tare.measure.answers import AnswerCheck, plain_check
from tare.measure.caches import CLEARS_DBMS, empty_buffers, evict_files, residence
from tare.measure.choices import CacheState, Clocked
from tare.measure.differences import Life, lives, machine_use, tasks, unaccounted_births, uses, was_active
from tare.measure.elapsed import LeaderReading, elapsed_view, with_throttle
from tare.measure.query import Query
from tare.measure.query_files import QueryFiles
from tare.measure.quota import quota_of
from tare.measure.records import QE, Outcome, OwnCost, Phases, ProcessUse, RawReadings, Residence
from tare.measure.resources import resources_view, with_leader
from tare.measure.rig import Rig
from tare.measure.split import phases_view

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class Readings:
    """The raw readings of one QE, in the order they were taken."""

    processes_1: Snapshot
    timeline_1: Timeline | None
    instructions_1: int | None
    leader_cpu_1: int | None
    machine_1: Machine
    clock_1: int
    clock_2: int
    timeline_at_clock_2: Timeline | None
    machine_2: Machine
    instructions_2: int | None
    timeline_2: Timeline | None
    throttled_ns: int | None  # of the leader's control groups, over all CPUs
    exits: list[Exit]
    exits_lost: int | None
    births: int | None
    processes_2: Snapshot
    own_cpu_ns: int
    fetched: Fetched | None
    error: TareError | None


def time_single_qe(
    rig: Rig,
    query: Query,
    *,
    index: int,
    query_index: int,
    warmup: bool,
    cache: CacheState,
    timeout_s: float | None,
    clocked: Clocked = Clocked.EXECUTION,
    check_answer: Callable[[Fetched], AnswerCheck] = plain_check,
    planned: Callable[[Plan], None] | None = None,
    files: QueryFiles | None = None,
) -> QE:
    """Weighs `query` once. Never raises for what the query did: `outcome` and `error` tell. `files` outside the
    database are evicted and proved with it.

    `check_answer` reads the rows and compares them, long after the clock. `planned` receives the plan, before it.

    Raises CacheNotCleared, BadStatement, and whatever EXPLAIN or the connection raise
    before the clock: then there was no QE.
    """
    plan_before = rig.plan(query.sql)
    if planned is not None:
        planned(plan_before)
    emptied = empty_buffers(rig.session, cache)
    if cache in CLEARS_DBMS:
        rig.reattach()
    rig.mend_trace()
    prepared = rig.prepared(query.sql)
    evict_files(rig.session, cache, files)  # last, with what set-up and preparing have read
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    before = residence(rig.session, emptied, files)
    with rig.helpers.watching(rig.leader, query.sql) if warmup else nullcontext():
        readings = _read(rig, prepared, timeout_s, clocked)
    outcome, plan, rows, answer, error = _verdict(rig, query, readings, plan_before.fingerprint, check_answer)
    return _record(
        rig,
        query,
        readings,
        index=index,
        query_index=query_index,
        started_at=started_at,
        warmup=warmup,
        outcome=outcome,
        error=error,
        plan=plan,
        rows=rows,
        answer=answer,
        residence_before=before,
        planning_inside=prepared.planning_inside if clocked is Clocked.TOTAL else None,
    )


def _read(rig: Rig, prepared: Prepared, timeout_s: float | None, clocked: Clocked) -> Readings:
    """Between the two clocks stands nothing but the execution itself, or the execution with its planning."""
    probe, listener, leader = rig.probe, rig.listener, rig.leader
    run = prepared.plan_and_execute if clocked is Clocked.TOTAL else prepared.execute
    threads_of = [leader.pid]
    fetched: Fetched | None = None
    failure: TareError | None = None
    collecting = gc.isenabled()
    gc.disable()
    try:
        if rig.auditor:
            rig.auditor.begin(rig)
        prepared.limit(timeout_s)
        rig.settle()
        if listener:
            listener.drain()  # what ended before the first snapshot is not of this QE
        lost_1, births_1 = _counts(listener)
        processes_1 = probe.processes(threads_of)
        timeline_1 = rig.timeline()
        instructions_1 = rig.instructions()
        quota = quota_of(leader.pid)
        throttled_1 = quota.throttled_ns()
        own_1 = time.process_time_ns()
        leader_cpu_1 = cpu_time_ns(leader.pid)
        machine_1 = probe.machine()
        clock_1 = time.monotonic_ns()
        try:
            fetched = run(timeout_s)
        except BadStatement:
            raise  # a change that the DBMS refused: the request is at fault, not the run
        except TareError as error:
            failure = error.with_traceback(None)  # its frames hold the connection's buffers
        clock_2 = time.monotonic_ns()
        timeline_at_clock_2 = rig.timeline()
        machine_2 = probe.machine()
        own_2 = time.process_time_ns()
        throttled_2 = quota.throttled_ns()
        instructions_2 = rig.instructions()
        rig.settle()
        exits = listener.drain() if listener else []
        timeline_2 = rig.timeline()
        processes_2 = probe.processes(threads_of)
        if listener:
            exits += listener.drain()  # those that ended while the second snapshot was taken
        lost_2, births_2 = _counts(listener)
        rig.helpers.look(leader)
    finally:
        if rig.auditor:
            rig.auditor.end()
        if collecting:
            gc.enable()
    return Readings(
        processes_1, timeline_1, instructions_1, leader_cpu_1, machine_1, clock_1, clock_2,
        timeline_at_clock_2, machine_2, instructions_2, timeline_2, _between(throttled_1, throttled_2), exits,
        _between(lost_1, lost_2), _between(births_1, births_2),
        processes_2, own_2 - own_1, fetched, failure,
    )  # fmt: skip


def _counts(listener: ExitListener | None) -> tuple[int | None, int | None]:
    """Exit records lost and tasks born since the listener began."""
    return (listener.lost(), listener.births()) if listener else (None, None)


def _between(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else second - first


def _verdict(
    rig: Rig,
    query: Query,
    readings: Readings,
    plan_before: str,
    check_answer: Callable[[Fetched], AnswerCheck],
) -> tuple[Outcome, str, int | None, AnswerCheck | None, str | None]:
    if readings.error is not None:
        timed_out = isinstance(readings.error, QueryTimeout)
        return Outcome.TIMEOUT if timed_out else Outcome.FAILED, plan_before, None, None, readings.error.what
    assert readings.fetched is not None
    rows, answer = readings.fetched.row_count, check_answer(readings.fetched)
    plan = plan_before if readings.fetched.made_relation else rig.plan(query.sql).fingerprint
    return (Outcome.OK if plan == plan_before else Outcome.PLAN_CHANGED), plan, rows, answer, None


def _record(
    rig: Rig,
    query: Query,
    readings: Readings,
    *,
    index: int,
    query_index: int,
    started_at: str,
    warmup: bool,
    outcome: Outcome,
    error: str | None,
    plan: str,
    rows: int | None,
    answer: AnswerCheck | None,
    residence_before: Residence,
    planning_inside: str | None,
) -> QE:
    before, after = readings.processes_1.processes(), readings.processes_2.processes()
    interval = (readings.processes_1.started_ns, readings.processes_2.ended_ns)
    exits = [e for e in readings.exits if interval[0] <= e.ended_ns <= interval[1]]
    machine = machine_use(readings.machine_1, readings.machine_2)
    joined = lives(before, after, exits)
    roles = [rig.role(life) for life in joined]
    processes = uses(joined, roles, rig.helpers.relations(joined, roles, rig.leader, query.sql))
    unaccounted = unaccounted_births(before, after, len(exits), machine.forks)
    first = _leader_reading(rig, readings.processes_1, before, readings.timeline_1)
    second = _leader_reading(rig, readings.processes_2, after, readings.timeline_2)
    leader_cpu = _run_between(first, second)
    resources = with_leader(
        resources_view(processes, 0 if rig.listener else unaccounted, interval[1] - interval[0]),
        rig.leader,
        leader_cpu,
    )
    elapsed = None
    if first and second:
        elapsed = elapsed_view(
            readings.clock_1, readings.clock_2, first, readings.timeline_at_clock_2, second,
            rig.no_trace, rig.no_delay,
        )  # fmt: skip
        elapsed = with_throttle(elapsed, readings.throttled_ns)
    return QE(
        index=index,
        query=query_index,
        started_at=started_at,
        warmup=warmup,
        outcome=outcome,
        error=error,
        plan_fingerprint=plan,
        row_count=rows,
        answer_hash=answer.hash if answer else None,
        residence=residence_before,
        elapsed=elapsed,
        resources=resources,
        instructions=None
        if any(use.relation and use.relation.is_sure for use in processes)
        else _between(readings.instructions_1, readings.instructions_2),
        machine=machine,
        online_cpus=len(readings.machine_2.cpus),
        processes=processes,
        births=readings.births,
        exits=len(exits) if rig.listener else None,
        exits_lost=readings.exits_lost,
        unaccounted_births=unaccounted if rig.listener else None,
        leader_pid=rig.leader.pid,
        leader_how=rig.leader.how,
        own=_own_cost(readings),
        raw=_raw(rig, readings, before, after, len(exits), joined, processes, (first, second)),
        audit=rig.auditor.judge(rig, readings.clock_1, readings.clock_2, processes) if rig.auditor else None,
        phases=_phases(readings, planning_inside, resources.cpu_ns),
        answer=answer,
        failure=readings.error,
    )


def _raw(
    rig: Rig,
    readings: Readings,
    before: list[Process],
    after: list[Process],
    exits: int,
    joined: list[Life],
    processes: Sequence[ProcessUse],
    leader: tuple[LeaderReading | None, LeaderReading | None],
) -> RawReadings:
    """Both readings of what moved. What rested reads the same twice, and is only counted."""
    kept = tuple(
        life for life, use in zip(joined, processes, strict=True) if use.role is Role.QUERY or was_active(use)
    )
    return RawReadings(
        clock_1=readings.clock_1,
        clock_2=readings.clock_2,
        snapshot_1=(readings.processes_1.started_ns, readings.processes_1.ended_ns),
        snapshot_2=(readings.processes_2.started_ns, readings.processes_2.ended_ns),
        machine_1=readings.machine_1,
        machine_2=readings.machine_2,
        lives=kept,
        rested=len(joined) - len(kept),
        tasks_1=tasks(before),
        tasks_2=tasks(after),
        exits=exits,
        instructions_1=readings.instructions_1,
        instructions_2=readings.instructions_2,
        leader_1=leader[0],
        leader_2=leader[1],
        timeline_at_clock_2=readings.timeline_at_clock_2,
        no_trace=rig.no_trace,
        no_delay=rig.no_delay,
    )


def _leader_reading(
    rig: Rig, snapshot: Snapshot, processes: list[Process], timeline: Timeline | None
) -> LeaderReading | None:
    """The leader's own thread; None if the server died under us."""
    leader = rig.leader
    threads = snapshot.threads(leader.pid)
    found = next((t for t in threads if t.pid == leader.tid), None)
    if found is None and leader.tid == leader.pid:
        found = next((p for p in processes if p.tgid == leader.pid and p.threads == 1), None)
    return LeaderReading(found, timeline) if found else None


def _phases(readings: Readings, planning_inside: str | None, cpu_ns: int | None) -> Phases | None:
    """Return both phases; None where only the execution was clocked (`planning_inside` is None), or failed."""
    if planning_inside is None or readings.fetched is None:
        return None
    planned = readings.fetched.planned
    return phases_view(
        readings.clock_1, readings.clock_2, readings.leader_cpu_1, planned, planning_inside, cpu_ns
    )


def _run_between(first: LeaderReading | None, second: LeaderReading | None) -> int | None:
    """Run time of the leader's thread between the snapshots, ns."""
    if first is None or second is None:
        return None
    return _between(first.process.run_ns, second.process.run_ns)


def _own_cost(readings: Readings) -> OwnCost:
    snapshots = (readings.processes_1.ended_ns - readings.processes_1.started_ns) + (
        readings.processes_2.ended_ns - readings.processes_2.started_ns
    )
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        resident_pages = int(file.read().split()[1])
    return OwnCost(readings.own_cpu_ns, snapshots, resident_pages * _PAGE_BYTES)
