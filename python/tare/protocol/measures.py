"""The measures of a QE that are summed up: name, unit, view, and where each is read.

One table, which the summary, the result document, its schema and every report follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tare.measure.records import QE
from tare.protocol.unmeasured import UNSEEN
from tare.protocol.unmeasured import reason as worded

Unit = Literal["ms", "bytes", "instructions", "processes"]
View = Literal["elapsed", "resources", "protocol", "counter", "phases"]


@dataclass(frozen=True, slots=True)
class Measure:
    name: str  # as in the result document
    label: str  # as a reader sees it
    unit: Unit
    view: View
    field: str  # in Elapsed, Resources, Phases or QE
    reason_key: str  # in their `why`
    meaning: str
    sampled: bool = False  # a split that the kernel samples: only the sum is counted

    def read(self, qe: QE) -> float | None:
        """The value in the measure's unit; None where this QE has none."""
        holder = self._holder(qe)
        value = None if holder is None else getattr(holder, self.field)
        if value is None:
            return None
        return value / 1e6 if self.unit == "ms" else float(value)

    def reason(self, qe: QE) -> str | None:
        """Why this QE has no value, where the measurement said it."""
        if qe.elapsed is None and self.view == "elapsed":
            return UNSEEN
        for view in (qe.elapsed, qe.resources, qe.phases):
            if view is not None and (view is self._holder(qe) or self.view == "counter"):
                lack = view.why.get(self.reason_key) or view.why.get(self.field)
                if lack is not None:
                    return worded(lack)
        return None

    def _holder(self, qe: QE) -> object | None:
        views = {"elapsed": qe.elapsed, "resources": qe.resources, "phases": qe.phases}
        return views.get(self.view, qe)


def _elapsed(stem: str, label: str, meaning: str, sampled: bool = False) -> Measure:
    name = f"cpu_{stem}_ms" if stem in ("user", "system") else f"{stem}_ms"
    return Measure(name, label, "ms", "elapsed", f"{stem}_ns", stem, meaning, sampled)


WALL = _elapsed(
    "wall",
    "wall",
    "Clock to clock around what `clocked` names (planning, execution, fetch), seen by the client.",
)
CPU = _elapsed("cpu", "CPU", "The leader's run time by the scheduler's clock.")
USER = _elapsed("user", "user", "The part of the CPU time in user mode.", sampled=True)
SYSTEM = _elapsed("system", "system", "The part of the CPU time in the kernel.", sampled=True)
INTERRUPT = _elapsed(
    "interrupt", "interrupts", "The part of the CPU time that served interrupts on the leader's back."
)
BLOCK_IO = _elapsed("block_io", "block I/O", "The leader waited for block I/O of its own.")
RUN_QUEUE = _elapsed("run_queue", "run-queue wait", "The leader could run and had no CPU: others had it.")
THROTTLED = _elapsed(
    "throttled",
    "throttled",
    "The leader could run, and its control group had used up its CPU quota: at most this.",
)
SLEEP = _elapsed("sleep", "sleep", "The leader waited for something else: workers, locks, the client.")
STEAL = _elapsed("steal", "steal", "The hypervisor had the CPU while the leader was on it.")
RESIDUE = _elapsed("residue", "residue", "Wall time minus the parts that were measured; may be below zero.")

PARTS: tuple[Measure, ...] = (CPU, BLOCK_IO, RUN_QUEUE, THROTTLED, SLEEP, STEAL)
"""With the residue they add up to the wall time in every QE (their medians need not)."""

INSTRUCTIONS = Measure(
    "instructions", "instructions:u", "instructions", "counter", "instructions", "instructions",
    "Instructions in user mode over all query processes: steady, blind to cache misses and I/O.",
)  # fmt: skip

ELAPSED: tuple[Measure, ...] = (
    WALL, CPU, USER, SYSTEM, INTERRUPT, BLOCK_IO, RUN_QUEUE, THROTTLED, SLEEP, STEAL, RESIDUE,
)  # fmt: skip

TTP2_NAME = "ttp2_ms"
TTP2_MEANING = (
    "Calculated time by TTPv2 (equations 1 and 2), in steps of half a tick; its median is over the QEs "
    "that the protocol retains, its samples show time_calc of every QE."
)


def _use(
    name: str,
    label: str,
    unit: Literal["ms", "bytes", "processes"],
    field: str,
    meaning: str,
    sampled: bool = False,
) -> Measure:
    return Measure(name, label, unit, "resources", field, field.removesuffix("_ns"), meaning, sampled)


CPU_OF_ALL = _use("cpu_ms", "CPU", "ms", "cpu_ns", "Run time of every thread of every query process.")

CPU_OF_LEADER = _use(
    "leader_cpu_ms", "leader", "ms", "leader_cpu_ns", "Of it, run time of the leader's thread."
)
CPU_OF_WORKERS = _use(
    "workers_cpu_ms", "workers", "ms", "workers_cpu_ns",
    "Of it, run time of every other thread and process: parallel workers.",
)  # fmt: skip

UNATTRIBUTED_CPU = _use(
    "unattributed_cpu_ms", "unattributed CPU", "ms", "unattributed_cpu_ns",
    "Run time of processes that may have worked for the query, which cannot be told; in no other sum.",
)  # fmt: skip

RESOURCES: tuple[Measure, ...] = (
    _use("processes", "processes", "processes", "processes", "Processes that worked for the query."),
    CPU_OF_ALL,
    CPU_OF_LEADER,
    CPU_OF_WORKERS,
    _use("cpu_user_ms", "user", "ms", "user_ns", "Of it in user mode.", sampled=True),
    _use("cpu_system_ms", "system", "ms", "system_ns", "Of it in the kernel.", sampled=True),
    _use("block_io_ms", "block I/O", "ms", "block_io_ns", "Block-I/O delay of every query process."),
    _use("run_queue_ms", "run-queue wait", "ms", "run_queue_ns", "Their run-queue wait."),
    _use("read_bytes", "read from disk", "bytes", "read_bytes", "Read by query processes from storage."),
    _use("write_bytes", "written to disk", "bytes", "write_bytes", "Made dirty by query processes."),
    _use(
        "utility_cpu_ms", "utility CPU", "ms", "utility_cpu_ns", "Run time of the DBMS's other processes."
    ),
    _use(
        "utility_block_io_ms", "utility block I/O", "ms", "utility_block_io_ns",
        "Block-I/O delay of the DBMS's other processes.",
    ),
    _use(
        "utility_read_bytes", "utility read", "bytes", "utility_read_bytes",
        "Read from storage by the DBMS's other processes: I/O workers read for the query.",
    ),
    UNATTRIBUTED_CPU,
)  # fmt: skip


def _phase(stem: str, label: str, meaning: str) -> Measure:
    return Measure(f"{stem}_ms", label, "ms", "phases", f"{stem}_ns", stem, meaning)


PLANNING = _phase("planning", "planning", "From the first clock until the statement is parsed and planned.")
EXECUTION = _phase(
    "execution", "execution", "The rest of the wall time: running, and receiving the whole result."
)
PLANNING_CPU = _phase("planning_cpu", "planning CPU", "Run time of the leader while it planned.")
EXECUTION_CPU = _phase("execution_cpu", "execution CPU", "The rest of the run time of all query processes.")

PHASES: tuple[Measure, ...] = (PLANNING, EXECUTION, PLANNING_CPU, EXECUTION_CPU)
"""Planning and execution add up to the wall time, and their CPU to that of all query processes, in every QE."""
