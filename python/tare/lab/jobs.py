"""Queue of runs in a PostgreSQL lab: submitted once, claimed by one executor at a time, and fenced.

A claim has a generation. Each write of an executor checks, in the same transaction, that its generation is still the
job's: an executor that was stopped for an hour, and was given up meanwhile, can write nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, or_, select, update

from tare.dbms.registry import find
from tare.errors import LabError, NoSuchRun, RunHeld, Superseded, UsageError
from tare.experiment.specification import Specification
from tare.lab.rows import clean
from tare.lab.schema import job, run
from tare.lab.states import RunState
from tare.lab.store import Lab

STALLED_S = 300.0
"""Silence after which a claimed job counts as stalled."""

FROZEN = "10s"
"""Time in which a transaction of an executor does nothing, after which it is taken back."""

GIVEN_UP = "its job was given up"


class JobState(StrEnum):
    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    id: int
    specification: str  # TOML
    specification_hash: str
    experiment: str
    dbms: str
    kind: str
    run_uuid: str
    state: JobState
    wanted: str | None
    executor: str | None
    machine: str | None
    said: str | None
    generation: int
    submitted_at: datetime
    claimed_at: datetime | None
    heartbeat_at: datetime | None
    silent_s: float | None  # since the last heart-beat of its claim, by the lab server's clock
    run_id: int | None  # of its run, if that was begun

    @property
    def is_stalled(self) -> bool:
        return self.state is JobState.CLAIMED and self.silent_s is not None and self.silent_s > STALLED_S


def submit(
    lab: Lab, specification: Specification, toml: str, dbms: Sequence[str], machines: Sequence[str | None]
) -> list[int]:
    """Add a job for each DBMS, named as in the specification, on each machine; None: any. Returns their ids.

    Raises UsageError for a lab that executors cannot share, LabError."""
    need_server(lab)
    kinds = {one.name: one.start or find(one.url or "").name for one in specification.dbms}
    with lab.writing() as connection:
        rows = [
            {
                "specification": clean(toml),
                "specification_hash": specification.sha256,
                "experiment": specification.name,
                "dbms": name,
                "kind": kinds[name],
                "run_uuid": str(uuid.uuid4()),
                "state": JobState.WAITING.value,
                "wanted": machine,
                "generation": 0,
                "submitted_at": func.now(),
            }
            for machine in machines
            for name in dbms
        ]
        return [connection.execute(insert(job).values(row).returning(job.c.id)).scalar_one() for row in rows]


def claim(lab: Lab, name: str, machine: str, kinds: Collection[str]) -> Job | None:
    """Claim a job: one that this executor had claimed on this machine, else the oldest that waits and fits.

    Raises LabError."""
    mine = (job.c.state == JobState.CLAIMED.value) & (job.c.executor == name) & (job.c.machine == machine)
    fits = (
        (job.c.state == JobState.WAITING.value)
        & or_(job.c.wanted.is_(None), job.c.wanted == name)
        & job.c.kind.in_(sorted(kinds))
    )
    with lab.writing() as connection:
        found = _first(connection, mine) or _first(connection, fits)
        if found is None:
            return None
        values = {"state": JobState.CLAIMED.value, "executor": name, "machine": machine, "said": None}
        connection.execute(
            update(job)
            .where(job.c.id == found)
            .values(**values, generation=job.c.generation + 1, claimed_at=func.now(), heartbeat_at=func.now())
        )
        return _job(connection, found)


def _first(connection: Connection, which: ColumnElement[bool]) -> int | None:
    """Lock the oldest such job that nobody is about to claim."""
    return connection.scalar(
        select(job.c.id).where(which).order_by(job.c.id).limit(1).with_for_update(skip_locked=True)
    )


def beat(lab: Lab, claimed: Job) -> None:
    """Record a sign of life. Raises Superseded, LabError."""
    _change(lab, claimed, heartbeat_at=func.now())


def end(lab: Lab, claimed: Job, state: JobState, said: str | None = None) -> None:
    """Record how the job ended. Raises Superseded, LabError."""
    _change(lab, claimed, state=state.value, said=clean(said))


def give_up(lab: Lab, job_id: int, *, force: bool = False) -> None:
    """Let a job be claimed again, on any machine, as a new run; the run that was begun counts as failed.

    Raises RunHeld if its executor is alive, unless `force`; NoSuchRun, LabError."""
    need_server(lab)
    with lab.writing() as connection:
        connection.execute(select(job.c.id).where(job.c.id == job_id).with_for_update())
        found = _job(connection, job_id)
        if found is None:
            raise NoSuchRun(f"the lab {lab.where} has no job {job_id}", "`tare executor list` shows them")
        if found.state is not JobState.CLAIMED:
            raise UsageError(f"job {job_id} is {found.state}: no executor has it", "leave it")
        if not (found.is_stalled or force):
            raise RunHeld(
                f"job {job_id} is claimed by {found.executor}, which was heard from {found.silent_s:.0f} s ago",
                f"wait until it has been silent for {STALLED_S:.0f} s, end it, or give --force",
            )
        connection.execute(
            update(run)
            .where(run.c.uuid == found.run_uuid, run.c.state != RunState.DONE.value)
            .values(state=RunState.FAILED.value, said=GIVEN_UP)
        )
        connection.execute(
            update(job)
            .where(job.c.id == job_id)
            .values(
                state=JobState.WAITING.value,
                generation=job.c.generation + 1,
                executor=None,
                machine=None,
                run_uuid=str(uuid.uuid4()),
            )
        )


def jobs(lab: Lab, most: int = 1000) -> list[Job]:
    """Return the newest jobs, oldest first; a file has none. Raises LabError."""
    if lab.is_sqlite:
        return []
    with lab.reading() as connection:
        rows = connection.execute(_jobs().order_by(job.c.id.desc()).limit(most)).all()
    return [_made(row) for row in reversed(rows)]


def need_server(lab: Lab) -> None:
    """Raises UsageError for a SQLite lab: executors of several machines cannot share a file."""
    if lab.is_sqlite:
        raise UsageError(
            f"{lab.where} is a file, which executors cannot share",
            "name a PostgreSQL database: --lab postgresql://…",
        )


class FencedLab(Lab):
    """The lab as the executor of a claim sees it: writing is refused once the job is another's."""

    def __init__(self, lab: Lab, claimed: Job) -> None:
        super().__init__(lab.engine, lab.where, lab.path)
        self._lab = lab
        self._claimed = claimed

    @contextmanager
    def telling(self) -> Iterator[None]:
        with self._lab.telling():
            yield

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with super().writing() as connection:
            _check(connection, self._claimed)
            yield connection


def _check(connection: Connection, claimed: Job) -> None:
    """Hold the job as it is until the transaction ends. Raises Superseded."""
    # The server ends the transaction of a process that is frozen within it: else nobody could give the job up.
    limit = func.set_config("idle_in_transaction_session_timeout", FROZEN, True)
    held = connection.scalar(
        select(job.c.id, limit)
        .where(job.c.id == claimed.id, job.c.generation == claimed.generation)
        .with_for_update(read=True)
    )
    if held is None:
        raise Superseded(
            f"job {claimed.id} was given up or claimed again: this is its claim {claimed.generation}",
            "leave its run to the other executor",
        )


def _change(lab: Lab, claimed: Job, **values: Any) -> None:
    with lab.writing() as connection:
        changed = connection.execute(
            update(job).where(job.c.id == claimed.id, job.c.generation == claimed.generation).values(**values)
        )
        if changed.rowcount == 0:
            _check(connection, claimed)
            raise LabError(f"job {claimed.id} cannot be changed", "see that the lab is whole")


def _jobs() -> Select[Any]:
    silent = func.extract("epoch", func.now() - job.c.heartbeat_at)
    return select(job, silent.label("silent_s"), run.c.id.label("run_id")).outerjoin(
        run, run.c.uuid == job.c.run_uuid
    )


def _job(connection: Connection, job_id: int) -> Job | None:
    row = connection.execute(_jobs().where(job.c.id == job_id)).first()
    return None if row is None else _made(row)


def _made(row: Row[Any]) -> Job:
    values = {name: row._mapping[name] for name in Job.__dataclass_fields__}
    silent = values["silent_s"]
    return Job(
        **{**values, "state": JobState(row.state), "silent_s": None if silent is None else float(silent)}
    )
