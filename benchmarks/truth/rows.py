"""A QE as the trace saw it, and what each protocol computes its time from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.truth.cells import Cell
from tare._probe import TICK_NS, Weighed
from tare.dbms.base import Role
from tare.measure.records import QE, ProcessUse
from tare.protocol.ttp2.equations import io_calc


@dataclass(frozen=True)
class Row:
    """Figures of a QE: the truth, and what each protocol computes with. ms; faults are counts."""

    cell: Cell
    wall: float
    # the trace's
    cpu: float
    run_queue: float
    waited: float
    waited_any: float
    disk: float
    others_disk: float
    iowait: float
    iowait_own_disk: float
    unknown: float
    # the protocols'
    user_ticks: float
    system_ticks: float
    block_io_ticks: float
    iowait_ticks: float
    exact_cpu: float
    exact_block_io: float
    faults: tuple[float, float, float]

    @property
    def ttp2_io(self) -> float:
        return io_calc(self.block_io_ticks, self.iowait_ticks)


def ms(ticks: float) -> float:
    return ticks * TICK_NS / 1e6


def total(processes: Sequence[ProcessUse], role: Role, name: str) -> float:
    return float(sum(getattr(p, name) or 0 for p in processes if p.role is role))


def row_of(cell: Cell, qe: QE, query: Weighed, dbms: Weighed) -> Row:
    assert qe.elapsed
    assert qe.elapsed.cpu_ns is not None
    assert qe.elapsed.block_io_ns is not None, "delay accounting is off"
    assert qe.machine
    assert qe.audit
    assert qe.audit.cpu_ns is not None
    # With I/O workers the query's requests are theirs: nobody else uses this server.
    disk = dbms.disk if cell.set_up.io_method == "worker" else query.disk
    whose = dbms if cell.set_up.io_method == "worker" else query
    query_processes = [p for p in qe.processes if p.role is Role.QUERY]
    cpus = [c for c in whose.cpus if c.cpu in cell.set_up.cpus]
    return Row(
        cell=cell,
        wall=qe.elapsed.wall_ns / 1e6,
        cpu=qe.audit.cpu_ns / 1e6,
        run_queue=sum(t.run_queue_ns for t in query.threads) / 1e6,
        waited=sum(t.own_io_ns for t in query.threads) / 1e6,
        waited_any=sum(t.block_io_ns for t in query.threads) / 1e6,
        disk=disk.in_flight_ns / 1e6,
        others_disk=disk.others_ns / 1e6,
        iowait=sum(c.iowait_ns for c in cpus) / 1e6,
        iowait_own_disk=sum(c.own_disk_ns for c in cpus) / 1e6,
        unknown=sum(c.unknown_ns for c in cpus) / 1e6,
        user_ticks=ms(total(qe.processes, Role.QUERY, "user_ticks")),
        system_ticks=ms(total(qe.processes, Role.QUERY, "system_ticks")),
        block_io_ticks=ms(sum((p.block_io_ns or 0) // TICK_NS for p in query_processes)),
        iowait_ticks=ms(sum(qe.machine.cpus[cpu]["iowait"] for cpu in sorted(cell.set_up.cpus))),
        exact_cpu=qe.elapsed.cpu_ns / 1e6,
        exact_block_io=qe.elapsed.block_io_ns / 1e6,
        faults=(
            total(qe.processes, Role.QUERY, "maj_faults"),
            total(qe.processes, Role.UTILITY, "maj_faults"),
            total(qe.processes, Role.DAEMON, "maj_faults"),
        ),
    )


def ttp1_slope(rows: Sequence[Row]) -> float:
    """b of `iowait = a + b·U_query + c·majflt_query + d·majflt_utility + e·majflt_daemon` (TTPv1 §8.4)."""
    if len(rows) < 6:
        return float("nan")
    factors = np.array([[1.0, row.user_ticks, *row.faults] for row in rows])
    fitted, *_ = np.linalg.lstsq(factors, np.array([row.iowait_ticks for row in rows]), rcond=None)
    return float(fitted[1])
