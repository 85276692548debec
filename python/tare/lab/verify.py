"""Every difference in the lab, computed anew from the raw readings and compared with its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from tare.dbms.base import Role
from tare.errors import LabError, LabTooNew
from tare.lab.readings import decode
from tare.lab.rows import clean, overall
from tare.lab.schema import ELAPSED_PARTS, OVERALL_TICKS, PROCESS_COUNTERS, cpu, process, qe, reading, run
from tare.lab.store import Lab
from tare.measure.differences import machine_use, use_of
from tare.measure.elapsed import elapsed_view
from tare.measure.records import RawReadings

_AT_ONCE = 200  # QEs

_PROCESS = ("ppid", "comm", "cmdline", "kernel", "cpu", "threads", *PROCESS_COUNTERS)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value in the lab that its readings do not give."""

    run_id: int
    qe_id: int
    run_order: int
    what: str  # "wall_ns", "process 4711 (steady) run_ns", …
    stored: object
    computed: object


@dataclass(slots=True)
class Verified:
    qes: int = 0
    values: int = 0  # compared
    without_readings: int = 0
    mismatches: int = 0
    first: list[Mismatch] = field(default_factory=list)  # at most `keep` of them


def verify(lab: Lab, runs: Sequence[int], keep: int = 100) -> Verified:
    """Looks at every QE of these runs, a few at a time. Raises LabError."""
    done = Verified()
    with lab.reading() as connection:
        for run_id in runs:
            tick_ns = connection.execute(select(run.c.tick_ns).where(run.c.id == run_id)).scalar_one()
            in_order = select(qe.c.id).where(qe.c.run_id == run_id).order_by(qe.c.run_order)
            ids = connection.execute(in_order).scalars().all()
            for first in range(0, len(ids), _AT_ONCE):
                for one in _qes(connection, ids[first : first + _AT_ONCE]):
                    _look(one, tick_ns, done, keep)
    return done


@dataclass(frozen=True, slots=True)
class _Stored:
    """Rows of a QE."""

    qe: RowMapping
    data: bytes | None
    processes: Sequence[RowMapping]
    cpus: Sequence[RowMapping]


def _qes(connection: Connection, ids: Sequence[int]) -> Iterator[_Stored]:
    def by_qe(table: Any) -> dict[int, list[RowMapping]]:
        found: dict[int, list[RowMapping]] = {}
        for row in connection.execute(select(table).where(table.c.qe_id.in_(ids))).mappings():
            found.setdefault(row["qe_id"], []).append(row)
        return found

    processes, cpus, data = by_qe(process), by_qe(cpu), by_qe(reading)
    for row in connection.execute(select(qe).where(qe.c.id.in_(ids)).order_by(qe.c.run_order)).mappings():
        own = data.get(row["id"])
        yield _Stored(
            row, own[0]["data"] if own else None, processes.get(row["id"], ()), cpus.get(row["id"], ())
        )


def _look(one: _Stored, tick_ns: int, done: Verified, keep: int) -> None:
    done.qes += 1
    if one.data is None:
        done.without_readings += 1
        return
    for what, stored, computed in _compared(one, tick_ns):
        done.values += 1
        if stored != computed:
            done.mismatches += 1
            if len(done.first) < keep:
                row = one.qe
                done.first.append(
                    Mismatch(row["run_id"], row["id"], row["run_order"], what, stored, computed)
                )


def _compared(one: _Stored, tick_ns: int) -> Iterator[tuple[str, object, object]]:
    """Yield the name of a value, the value in the lab, and the value by the readings."""
    assert one.data is not None
    try:
        raw = decode(one.data)
    except LabTooNew:
        raise
    except LabError as error:
        yield "readings", error.what, "readable"
        return
    yield from _qe_values(one.qe, raw)
    yield from _process_values(one.processes, raw, tick_ns)
    yield from _cpu_values(one.cpus, raw)


def _qe_values(row: RowMapping, raw: RawReadings) -> Iterator[tuple[str, object, object]]:
    machine = machine_use(raw.machine_1, raw.machine_2)
    computed: dict[str, object] = {**overall(machine), "online_cpus": len(raw.machine_2.cpus)}
    if raw.leader_1 and raw.leader_2:
        elapsed = elapsed_view(
            raw.clock_1, raw.clock_2, raw.leader_1, raw.timeline_at_clock_2, raw.leader_2,
            raw.no_trace, raw.no_delay,
        )  # fmt: skip
        computed["wall_ns"] = elapsed.wall_ns
        computed |= {f"leader_{name}": getattr(elapsed, name) for name in ELAPSED_PARTS}
    both = raw.instructions_1, raw.instructions_2
    computed["instructions"] = None if None in both else both[1] - both[0]  # type: ignore[operator]
    if row["exits"] is not None:
        computed["exits"] = raw.exits
        computed["unaccounted_births"] = machine.forks - (raw.tasks_2 - raw.tasks_1 + raw.exits)
    for name, value in computed.items():
        yield name, row[name], value


def _process_values(
    rows: Sequence[RowMapping], raw: RawReadings, tick_ns: int
) -> Iterator[tuple[str, object, object]]:
    stored = {(row["pid"], row["fate"]): row for row in rows}
    for life in raw.lives:
        use = use_of(life, Role.DAEMON, tick_ns)  # the role is the DBMS adapter's word, no difference
        name = f"process {use.pid} ({use.fate.value})"
        row = stored.pop((use.pid, use.fate.value), None)
        yield name, "missing" if row is None else "there", "there"
        if row is not None:
            for column in _PROCESS:
                value = getattr(use, column)
                yield f"{name} {column}", row[column], clean(value) if isinstance(value, str) else value
    for pid, fate in stored:
        yield f"process {pid} ({fate})", "there", "missing"


def _cpu_values(rows: Sequence[RowMapping], raw: RawReadings) -> Iterator[tuple[str, object, object]]:
    stored: dict[int, Mapping[str, Any]] = {row["cpu"]: row for row in rows}  # type: ignore[misc]
    for used in machine_use(raw.machine_1, raw.machine_2).cpus:
        row = stored.pop(used["cpu"], None)
        yield f"cpu {used['cpu']}", "missing" if row is None else "there", "there"
        if row is not None:
            for name in OVERALL_TICKS:
                yield f"cpu {used['cpu']} {name}", row[name], used[name]
    for number in stored:
        yield f"cpu {number}", "there", "missing"
