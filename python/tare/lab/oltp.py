"""Transactional runs in a lab: recorded whole or not at all, listed and read back as they were."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, Table, insert, select

from tare.errors import LabError, UsageError
from tare.lab import oltp_rows as rows
from tare.lab.ids import oltp_id
from tare.lab.recorder import inserted, shared
from tare.lab.rows import dbms_row, machine_row
from tare.lab.schema import dbms, machine
from tare.lab.schema_oltp import oltp_check, oltp_measure, oltp_run, oltp_second, oltp_type
from tare.lab.store import Lab
from tare.workload.oltp.run import OltpRun


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a line."""

    id: int
    uuid: str
    workload: str
    scale: float
    dbms: str
    version: str
    started_at: str
    connections: int
    arrivals: str
    intended_rate: float | None
    rate: float  # successful transactions a second; of runs of earlier versions, those that were started
    valid: bool
    not_judged: bool  # too short to be judged, or disturbed, and nothing else speaks against it
    committed: int
    p99_ns: int | None  # of response, over all seconds at once


def record(lab: Lab, run: OltpRun) -> int:
    """Record a run in one transaction, and return its number. The same run is recorded once.

    Raises LabFull, LabLost or another LabError; after a LabLost the run may be in the lab all the same."""
    with lab.writing() as connection:
        known = connection.scalar(select(oltp_run.c.id).where(oltp_run.c.uuid == run.uuid))
        if known is not None:
            return int(known)
        above = {
            "dbms_id": shared(connection, dbms, "digest", dbms_row(run.server)),
            "machine_id": shared(connection, machine, "digest", machine_row(run.machine)),
        }
        run_id = inserted(connection, oltp_run, {**above, **rows.run_row(run)})
        for table, found in (
            (oltp_type, rows.type_rows(run.outcome)),
            (oltp_second, rows.second_rows(run.seconds)),
            (oltp_measure, rows.measure_rows(run.measures)),
            (oltp_check, rows.check_rows(run)),
        ):
            if found:
                connection.execute(insert(table), [{"oltp_run_id": run_id, **row} for row in found])
        return run_id


def listed(lab: Lab) -> list[Listed]:
    """All runs, oldest first."""
    wanted = (
        select(oltp_run, dbms.c.name.label("dbms_name"), dbms.c.version.label("dbms_version"))
        .join(dbms, dbms.c.id == oltp_run.c.dbms_id)
        .order_by(oltp_run.c.id)
    )
    of_all = select(
        *(oltp_type.c[name] for name in ("oltp_run_id", "committed", "response_histogram", "response_count"))
    ).where(oltp_type.c.name == rows.ALL)
    with lab.reading() as connection:
        found = connection.execute(wanted).mappings().all()
        sums = {row["oltp_run_id"]: row for row in connection.execute(of_all).mappings()}
    return [
        Listed(
            id=row["id"],
            uuid=row["uuid"],
            workload=row["workload"],
            scale=row["scale"],
            dbms=row["dbms_name"],
            version=row["dbms_version"],
            started_at=row["started_at"],
            connections=row["asked"]["connections"],
            arrivals=row["asked"]["arrivals"],
            intended_rate=row["intended_rate"],
            rate=row["rate"] if row["sustained_rate"] is None else row["sustained_rate"],
            valid=row["valid"],
            not_judged=bool(row["not_judged"]) and not row["invalid"],
            committed=sums[row["id"]]["committed"],
            p99_ns=rows.quantile(sums[row["id"]], "response", 0.99),
        )
        for row in found
        if row["id"] in sums
    ]


def load(lab: Lab, run_id: int) -> OltpRun:
    """The run as it was recorded; where its server keeps its data is not in the lab. Raises LabError."""
    with lab.reading() as connection:
        row = (
            connection.execute(
                select(
                    oltp_run,
                    *(dbms.c[name].label(f"dbms_{name}") for name in ("name", "version", "settings")),
                    machine.c.facts,
                )
                .join(dbms, dbms.c.id == oltp_run.c.dbms_id)
                .join(machine, machine.c.id == oltp_run.c.machine_id)
                .where(oltp_run.c.id == run_id)
            )
            .mappings()
            .one_or_none()
        )
        if row is None:
            raise LabError(
                f"the lab has no transactional run {oltp_id(run_id)}", "see that it is the right lab"
            )
        types = _below(connection, run_id, oltp_type, "number")
        seconds = _below(connection, run_id, oltp_second, "number")
        measures = _below(connection, run_id, oltp_measure, "second")
        checks = _below(connection, run_id, oltp_check, "number")
    if not types:
        raise LabError(
            f"transactional run {oltp_id(run_id)} lacks its figures",
            "take another copy of the lab, it is damaged",
        )
    return rows.run_of(row, types, seconds, measures, checks)


def _below(connection: Connection, run_id: int, table: Table, *order: str) -> list[RowMapping]:
    wanted = select(table).where(table.c.oltp_run_id == run_id).order_by(*(table.c[name] for name in order))
    return list(connection.execute(wanted).mappings())


def load_curve(lab: Lab, run_id: int) -> list[tuple[int, OltpRun]]:
    """All steps of the curve that a run is a step of, with their numbers in the lab, in the order they were taken.

    Raises UsageError for a run by itself, and LabError."""
    with lab.reading() as connection:
        found = connection.execute(select(oltp_run.c.id, oltp_run.c.asked).order_by(oltp_run.c.id)).all()
    steps = {row.id: step for row in found if (step := row.asked.get("step")) is not None}
    if run_id not in steps:
        raise UsageError(
            f"transactional run {oltp_id(run_id)} is not a step of a curve",
            "name a run that `tare bench oltp curve` made",
        )
    curve = steps[run_id]["curve"]
    ids = [number for number, step in steps.items() if step["curve"] == curve]
    return [(number, load(lab, number)) for number in sorted(ids, key=lambda number: steps[number]["number"])]
