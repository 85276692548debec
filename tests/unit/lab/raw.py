"""Raw readings made by hand, and the differences that they give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tare.dbms.base import Role
from tare.lab.schema import OVERALL_TICKS
from tare.measure.differences import Life, machine_use, use_of
from tare.measure.elapsed import LeaderReading, elapsed_view
from tare.measure.records import RawReadings
from tests.unit.measure.readings import MS, ended, process


class Ticks(SimpleNamespace):
    def as_dict(self) -> dict[str, int]:
        return dict(vars(self))


def machine(base: int, cpus: int = 2) -> Any:
    rows = [Ticks(cpu=cpu, **dict.fromkeys(OVERALL_TICKS, base + cpu)) for cpu in range(cpus)]
    total = Ticks(cpu=-1, **dict.fromkeys(OVERALL_TICKS, sum(base + cpu for cpu in range(cpus))))
    return SimpleNamespace(
        taken_ns=base, total=total, cpus=rows, forks=base, context_switches=base * 10, running=1, blocked=0
    )


def timeline(as_of: int, **given: Any) -> Any:
    base: dict[str, Any] = {
        "tid": 10, "followed_ns": 0, "as_of_ns": as_of, "on_cpu_ns": 0, "run_queue_ns": 0, "sleep_ns": 0,
        "block_io_ns": 0, "other_wait_ns": 0, "stolen_ns": 0, "interrupted_ns": 0, "since_ns": 0,
        "switch_ins": 5, "slices": 5, "alive": True, "trusted": True, "state": "sleep",
    }  # fmt: skip
    return SimpleNamespace(**(base | given))


def readings(lives: tuple[Life, ...], **changes: Any) -> RawReadings:
    given: dict[str, Any] = {
        "clock_1": 1_000,
        "clock_2": 1_000 + 57 * MS,
        "snapshot_1": (100, 900),
        "snapshot_2": (60 * MS, 61 * MS),
        "machine_1": machine(1_000),
        "machine_2": machine(1_007),
        "lives": lives,
        "rested": 90,
        "tasks_1": 120,
        "tasks_2": 121,
        "exits": 1,
        "instructions_1": 5,
        "instructions_2": 250_000_005,
        "leader_1": None,
        "leader_2": None,
        "timeline_at_clock_2": None,
        "no_trace": "the tier has none",
        "no_delay": "",
    }
    return RawReadings(**(given | changes))


def raw(seed: int = 0) -> tuple[RawReadings, dict[str, Any]]:
    """Readings of a query process, a daemon that began, one that ended; and what a QE record holds of them."""
    before, after = process(10, run_ns=5 * MS), process(10, run_ns=(55 + seed) * MS, user_ns=50 * MS + seed)
    roles = (
        (Life(before, after, ()), Role.QUERY),
        (Life(None, process(20, comm="mariadbd", user_ns=1_000), ()), Role.DAEMON),
        (Life(process(30), None, (ended(30, run_ns=7 * MS),)), Role.UTILITY),
    )
    one, two = LeaderReading(before, timeline(900)), LeaderReading(after, timeline(60 * MS, sleep_ns=MS))
    found = readings(
        tuple(life for life, _ in roles),
        leader_1=one,
        leader_2=two,
        timeline_at_clock_2=timeline(57 * MS, since_ns=57 * MS),
    )
    used = machine_use(found.machine_1, found.machine_2)
    record = {
        "processes": tuple(use_of(life, role) for life, role in roles),
        "machine": used,
        "online_cpus": 2,
        "elapsed": elapsed_view(
            found.clock_1, found.clock_2, one, found.timeline_at_clock_2, two, found.no_trace, found.no_delay
        ),
        "instructions": 250_000_000,
        "exits": 1,
        "unaccounted_births": used.forks - 2,
    }
    return found, record
