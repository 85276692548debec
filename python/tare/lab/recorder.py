"""Records of an executor in the lab: every call is one transaction, on disk when it returns.

A call that raised LabLost may have been done all the same, its acknowledgement lost. So every call can be made
again with the same arguments: it finds what it did, and a QE is never recorded twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tare.dbms.base import Plan, Server
from tare.dbms.url import redacted
from tare.errors import LabError
from tare.experiment.specification import Specification
from tare.lab import readings, rows
from tare.lab.ids import experiment_id
from tare.lab.schema import audit, cpu, dbms, experiment, machine, process, qatc, qe, query, reading, run
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab
from tare.measure.environment import MachineFacts
from tare.measure.query import Query
from tare.measure.records import QE

_NS = 1_000_000_000


class Recorder:
    """Writes to one lab. Any method raises LabFull, LabLost or another LabError."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._begun: dict[str, str] = {}  # uuids of runs whose beginning may or may not be in the lab
        self._dbms: dict[int, str] = {}  # by Q@C

    def begin(
        self,
        spec: Specification,
        toml: str,
        server: Server,
        machine_facts: MachineFacts,
        *,
        tick_ns: int,
        online_cpus: int,
        tier: str,
        means: Mapping[str, str],
        deviations: Sequence[str],
        queries: Sequence[Query],
    ) -> int:
        """A new run of `spec` on `server`, with its queries; the run's id."""
        now = _now()
        described = rows.experiment_row(spec, toml, now)
        key = f"{described['specification_hash']} {server.url}"
        run_uuid = self._begun.setdefault(key, str(uuid.uuid4()))

        def make(connection: Connection) -> int:
            known = connection.scalar(select(run.c.id).where(run.c.uuid == run_uuid))
            if known is not None:
                return int(known)
            made = _new(
                connection,
                run,
                {
                    "experiment_id": shared(connection, experiment, "specification_hash", described),
                    "dbms_id": shared(connection, dbms, "digest", rows.dbms_row(server)),
                    "machine_id": shared(connection, machine, "digest", rows.machine_row(machine_facts)),
                    "uuid": run_uuid,
                    "state": RunState.RUNNING.value,
                    "url": redacted(server.url),
                    "started_at": now,
                    "heartbeat_at": now,
                    "cache": spec.cache.value,
                    "qes_per_qatc": spec.qes,
                    "timeout_ns": None if spec.timeout_s is None else round(spec.timeout_s * _NS),
                    "tick_ns": tick_ns,
                    "online_cpus": online_cpus,
                    "tier": str(tier),
                    "tare": machine_facts.tare,
                    "means": dict(means),
                    "deviations": list(deviations),
                },
            )
            listed = [
                {"run_id": made, "number": number, "name": rows.clean(one.name), "sql": rows.clean(one.sql)}
                for number, one in enumerate(queries)
            ]
            if listed:
                connection.execute(insert(query), listed)
            return made

        found = self._once("a run", make)
        del self._begun[key]
        return found

    def visit(self, query_id: int, visit: int, cardinality: int, plan: Plan, timed: bool) -> int:
        """A Q@C that the scenario's walk has come to; its id. `timed`: its QEs are to follow."""

        def make(connection: Connection) -> int:
            known = connection.execute(
                select(qatc.c.id, qatc.c.cardinality).where(
                    qatc.c.query_id == query_id, qatc.c.visit == visit
                )
            ).one_or_none()
            if known is not None:
                if known.cardinality != cardinality:
                    raise LabError(
                        f"visit {visit} of query {query_id} is in the lab at cardinality {known.cardinality}, "
                        f"not {cardinality}",
                        "see that one executor alone works on this run, then resume it",
                    )
                return int(known.id)
            return _new(
                connection,
                qatc,
                {
                    "query_id": query_id,
                    "run_id": connection.scalar(select(query.c.run_id).where(query.c.id == query_id)),
                    "visit": visit,
                    "cardinality": cardinality,
                    "state": (QatCState.PENDING if timed else QatCState.SAME_PLAN).value,
                    "attempt": 1,
                    "plan_fingerprint": plan.fingerprint,
                    "plan": plan.root.as_json(),
                },
            )

        return self._once(f"visit {visit} of query {query_id}", make)

    def record(self, qatc_id: int, attempt: int, number: int | None, qe_: QE) -> int:
        """Record a QE with all its readings, and return its id. `qe_.index` is its place in the run.

        The number is kept only for a QE that counts: one that ended well or timed out, and is no warm-up."""
        row = rows.qe_row(qe_, number)
        encoded = readings.encode(qe_.raw) if qe_.raw is not None else None

        def make(connection: Connection) -> int:
            run_id = _one(connection, select(qatc.c.run_id).where(qatc.c.id == qatc_id), f"Q@C {qatc_id}")
            mine = {**row, "qatc_id": qatc_id, "run_id": run_id, "attempt": attempt}
            if (known := _recorded(connection, mine)) is not None:
                return known
            qe_id = _new(connection, qe, mine)
            self._below(connection, qe_id, qatc_id, qe_, encoded)
            connection.execute(update(run).where(run.c.id == run_id).values(heartbeat_at=_now()))
            return qe_id

        return self._once(f"QE {number} of Q@C {qatc_id}", make)

    def restart(self, qatc_id: int, plan: Plan) -> int:
        """The Q@C begins anew under another plan (TTPv2 §3.2.3); its attempt from now on.

        An attempt without a QE is not counted: asked twice, it is the same restart."""
        with self._lab.writing() as connection:
            attempt = _one(connection, select(qatc.c.attempt).where(qatc.c.id == qatc_id), f"Q@C {qatc_id}")
            tried = connection.scalar(
                select(func.count()).where(qe.c.qatc_id == qatc_id, qe.c.attempt == attempt)
            )
            attempt += 1 if tried else 0
            connection.execute(
                update(qatc)
                .where(qatc.c.id == qatc_id)
                .values(
                    attempt=attempt,
                    state=QatCState.PENDING.value,
                    plan_fingerprint=plan.fingerprint,
                    plan=plan.root.as_json(),
                )
            )
        return int(attempt)

    def timed(self, qatc_id: int) -> None:
        """All QEs of the Q@C are there."""
        self._change(qatc, qatc_id, state=QatCState.TIMED.value, said=None)

    def fail_qatc(self, qatc_id: int, why: str) -> None:
        self._change(qatc, qatc_id, state=QatCState.FAILED.value, said=rows.clean(why))

    def fail_query(self, query_id: int, why: str) -> None:
        """The query cannot be run on this DBMS: it is listed as missing, and the run goes on."""
        self._change(query, query_id, error=rows.clean(why))

    def state(self, run_id: int, state: RunState, said: str | None = None) -> None:
        now = _now()
        ended = now if state is RunState.DONE else None
        self._change(run, run_id, state=state.value, said=rows.clean(said), ended_at=ended, heartbeat_at=now)

    def heartbeat(self, run_id: int) -> None:
        self._change(run, run_id, heartbeat_at=_now())

    def departs(self, run_id: int, found: Sequence[str]) -> None:
        """Deviations beside those that are recorded already, each once."""
        with self._lab.writing() as connection:
            known = _told(
                connection,
                select(run.c.deviations).where(run.c.id == run_id),
                f"run {experiment_id(run_id)}",
            )
            joined = list(dict.fromkeys([*known, *found]))
            connection.execute(update(run).where(run.c.id == run_id).values(deviations=joined))

    # Inside ------------------------------------------------------------------------
    def _once(self, what: str, make: Callable[[Connection], int]) -> int:
        """The id that `make` returns, in a transaction. An earlier try whose answer was lost may still commit while
        this one waits for it: its row takes the place of ours then, and is found the second time."""
        for _ in range(2):
            with suppress(_Taken), self._lab.writing() as connection:
                return make(connection)
        raise LabError(
            f"{what} cannot be recorded: the lab refuses its values",
            "see that the lab is whole: `tare lab verify`",
        )

    def _below(
        self, connection: Connection, qe_id: int, qatc_id: int, qe_: QE, encoded: bytes | None
    ) -> None:
        of = {"qe_id": qe_id}
        for table, found in (
            (process, rows.process_rows(qe_, self._dbms_of(connection, qatc_id))),
            (cpu, rows.cpu_rows(qe_.machine)),
            (reading, [{"data": encoded}] if encoded is not None else []),
            (audit, [asdict(qe_.audit)] if qe_.audit is not None else []),
        ):
            if found:
                connection.execute(insert(table), [{**of, **row} for row in found])

    def _dbms_of(self, connection: Connection, qatc_id: int) -> str:
        if qatc_id not in self._dbms:
            self._dbms[qatc_id] = str(
                connection.scalar(
                    select(dbms.c.name)
                    .join(run, run.c.dbms_id == dbms.c.id)
                    .join(qatc, qatc.c.run_id == run.c.id)
                    .where(qatc.c.id == qatc_id)
                )
            )
        return self._dbms[qatc_id]

    def _change(self, table: Table, row_id: int, **values: Any) -> None:
        with self._lab.writing() as connection:
            changed = connection.execute(update(table).where(table.c.id == row_id).values(**values))
            if changed.rowcount != 1:
                raise LabError(f"the lab has no {table.name} {row_id}", "see that it is the right lab")


class _Taken(Exception):
    """The place of a row is taken by a transaction that ended while ours ran."""


def _new(connection: Connection, table: Table, row: rows.Row) -> int:
    """The id of the row. Raises _Taken."""
    try:
        return inserted(connection, table, row)
    except IntegrityError as error:
        raise _Taken from error


def _recorded(connection: Connection, row: rows.Row) -> int | None:
    """The id of this very QE, if an earlier call recorded it. Raises LabError if another has its place."""
    same_place = (qe.c.run_id == row["run_id"]) & (qe.c.run_order == row["run_order"])
    if row["number"] is not None:
        same_place |= (
            (qe.c.qatc_id == row["qatc_id"])
            & (qe.c.attempt == row["attempt"])
            & (qe.c.number == row["number"])
        )
    names = ("qatc_id", "run_order", "attempt", "number", "started_at", "outcome")
    found = connection.execute(select(qe.c.id, *(qe.c[name] for name in names)).where(same_place)).all()
    if not found:
        return None
    if len(found) == 1 and all(found[0]._mapping[name] == row[name] for name in names):
        return int(found[0].id)
    raise LabError(
        f"the place of QE {row['number']} (run order {row['run_order']}) of Q@C {row['qatc_id']} is taken by "
        f"another, begun at {found[0].started_at}",
        "see that one executor alone works on this run, then resume it",
    )


def shared(connection: Connection, table: Table, unique: str, row: rows.Row) -> int:
    """The id of the row with this digest, made if it is not there; several executors may do so at once."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as insert_new
    else:
        from sqlalchemy.dialects.postgresql import insert as insert_new  # type: ignore[assignment]
    connection.execute(insert_new(table).values(row).on_conflict_do_nothing(index_elements=[unique]))
    return int(connection.execute(select(table.c.id).where(table.c[unique] == row[unique])).scalar_one())


def inserted(connection: Connection, table: Table, row: rows.Row) -> int:
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _one(connection: Connection, statement: Any, what: str) -> int:
    return int(_told(connection, statement, what))


def _told(connection: Connection, statement: Any, what: str) -> Any:
    found = connection.scalar(statement)
    if found is None:
        raise LabError(f"the lab has no {what}", "see that it is the right lab")
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
