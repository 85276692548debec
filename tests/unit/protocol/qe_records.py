"""QE records made by hand, as a measurement of a PostgreSQL backend would leave them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.dbms.base import Role
from tare.measure.records import (
    QE,
    Elapsed,
    Fate,
    MachineUse,
    Outcome,
    OwnCost,
    Phases,
    ProcessUse,
    Residence,
    Resources,
)

TICK_NS = 10_000_000
MS = 1_000_000


WARM = Residence(90 << 20, 100 << 20, "mincore", 8 << 20, "pg_buffercache", None)


def process(pid: int = 100, role: Role = Role.QUERY, **changes: Any) -> ProcessUse:
    """A process that used 5 user ticks and 1 system tick, 55.4 ms exactly."""
    values: dict[str, Any] = {
        "pid": pid, "ppid": 1, "comm": "postgres", "cmdline": "", "role": role, "fate": Fate.STEADY,
        "kernel": False, "cpu": 0, "threads": 1, "user_ticks": 5, "system_ticks": 1,
        "user_ns": 45 * MS, "system_ns": 10 * MS, "guest_ns": 0, "run_ns": 55_400_000,
        "run_queue_ns": 1 * MS, "slices": 10, "block_io_ns": 0, "min_faults": 3, "maj_faults": 0,
        "voluntary_switches": 2, "involuntary_switches": 8, "read_calls": 4, "write_calls": 1,
        "read_chars": 0, "write_chars": 0, "read_bytes": 0, "write_bytes": 0,
    }  # fmt: skip
    return ProcessUse(**{**values, **changes})


def machine(forks: int = 0, context_switches: int = 40, **ticks: int) -> MachineUse:
    total = dict.fromkeys(
        ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"), 0
    )
    total.update({"user": 5, "system": 1, **ticks})
    return MachineUse(total, (total,), forks, context_switches)


def elapsed(wall_ms: float = 57.2, cpu_ms: float = 55.4, **changes: Any) -> Elapsed:
    """Parts that add up: what CPU and waiting leave of the wall time is sleep, bar 10 µs."""
    wall, cpu = round(wall_ms * MS), round(cpu_ms * MS)
    values: dict[str, Any] = {
        "wall_ns": wall, "cpu_ns": cpu, "user_ns": cpu - cpu // 5, "system_ns": cpu // 5,
        "interrupt_ns": 0, "block_io_ns": 0, "run_queue_ns": 1 * MS,
        "sleep_ns": wall - cpu - MS - 10_000, "steal_ns": 0, "residue_ns": 10_000, "why": {},
    }  # fmt: skip
    return Elapsed(**{**values, **changes})


def resources(cpu_ms: float = 55.4, **changes: Any) -> Resources:
    cpu = round(cpu_ms * MS)
    values: dict[str, Any] = {
        "processes": 1, "cpu_ns": cpu, "user_ns": cpu - cpu // 5, "system_ns": cpu // 5, "block_io_ns": 0,
        "run_queue_ns": 1 * MS, "read_bytes": 0, "write_bytes": 0, "utility_cpu_ns": 0,
        "utility_block_io_ns": 0, "utility_read_bytes": 0, "why": {},
    }  # fmt: skip
    return Resources(**{**values, **changes})


def phases(planning_ms: float, wall_ms: float = 57.2, cpu_ms: float = 55.4) -> Phases:
    """Planning that computes all the time, and execution that takes the rest."""
    planning = round(planning_ms * MS)
    return Phases(planning, round(wall_ms * MS) - planning, planning, round(cpu_ms * MS) - planning)


def qe(index: int = 0, **changes: Any) -> QE:
    """A warm QE of 57.2 ms on one CPU that passes every check."""
    values: dict[str, Any] = {
        "index": index, "query": 0, "started_at": f"2025-01-01T00:00:{index % 60:02d}.000+00:00",
        "warmup": False, "outcome": Outcome.OK, "error": None, "plan_fingerprint": "00aa11bb22cc33dd",
        "row_count": 1, "answer_hash": "5f1e", "residence": WARM,
        "elapsed": elapsed(), "resources": resources(), "instructions": 250_000_000, "machine": machine(),
        "online_cpus": 1, "processes": (process(),), "births": 0, "exits": 0, "exits_lost": 0,
        "unaccounted_births": 0, "leader_pid": 100, "leader_how": "pg_backend_pid()",
        "own": OwnCost(100_000, 300_000, 60 << 20),
    }  # fmt: skip
    return QE(**{**values, **changes})


def run_of(cpu_ms: Sequence[float], wall_ms: Sequence[float] | None = None, **changes: Any) -> list[QE]:
    """A run whose QEs differ in their CPU (and wall) times, ms."""
    walls = wall_ms or [value + 2 for value in cpu_ms]
    return [
        qe(i, elapsed=elapsed(wall, cpu), resources=resources(cpu), **changes)
        for i, (cpu, wall) in enumerate(zip(cpu_ms, walls, strict=True))
    ]
