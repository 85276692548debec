"""From two snapshots and the exit records between them to what each process used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tare._probe import TICK_NS, CpuTicks, Exit, Machine, Process
from tare.dbms.base import Role
from tare.measure.records import Fate, MachineUse, ProcessUse, Relation

COUNTERS = (
    "user_ns",
    "system_ns",
    "guest_ns",
    "run_ns",
    "run_queue_ns",
    "slices",
    "block_io_ns",
    "min_faults",
    "maj_faults",
    "voluntary_switches",
    "involuntary_switches",
    "read_calls",
    "write_calls",
    "read_chars",
    "write_chars",
    "read_bytes",
    "write_bytes",
)

# A start time comes at tick precision from /proc, exactly from BPF, and rounded
# otherwise from taskstats; within one QE a pid is not reused this fast.
_SAME_LIFE_NS = 5 * TICK_NS

Totals = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Life:
    """A process as it was first and last seen; either may be missing."""

    before: Process | None
    after: Process | None
    exits: tuple[Exit, ...]

    @property
    def latest(self) -> Process:
        process = self.after or self.before or (self.exits[-1].process if self.exits else None)
        assert process is not None
        return process

    @property
    def fate(self) -> Fate:
        ended = any(exit_.last_of_group for exit_ in self.exits)
        if self.before and self.after:
            return Fate.STEADY
        if self.after:
            return Fate.STARTED
        if self.before:
            return Fate.STOPPED if ended else Fate.UNSEEN_END
        return Fate.PHANTOM


def lives(before: Iterable[Process], after: Iterable[Process], exits: Iterable[Exit]) -> list[Life]:
    """Joins the readings of each process's life; a reused pid gives two lives."""
    first = {process.tgid: process for process in before}
    last = {process.tgid: process for process in after}
    ended: dict[int, list[Exit]] = {}
    for exit_ in exits:
        ended.setdefault(exit_.process.tgid, []).append(exit_)
    joined = []
    for tgid in first.keys() | last.keys() | ended.keys():
        one, two, records = first.get(tgid), last.get(tgid), tuple(ended.get(tgid, ()))
        if one and two and not _same_life(one, two):
            joined.append(Life(one, None, records))
            joined.append(Life(None, two, ()))
        else:
            joined.append(Life(one, two, records))
    return joined


def use_of(life: Life, role: Role, tick_ns: int = TICK_NS, relation: Relation | None = None) -> ProcessUse:
    """Return the process's use between the snapshots. A counter that either end lacks is None.

    `tick_ns` is the tick of the machine that was read."""
    end: Totals = _totals(life.after) if life.after else _ended_totals(life)
    start: Totals = _totals(life.before) if life.before else dict.fromkeys(COUNTERS, 0)
    used = {name: _difference(start[name], end[name]) for name in COUNTERS}
    latest = life.latest
    return ProcessUse(
        pid=latest.tgid,
        ppid=latest.ppid,
        comm=latest.comm,
        cmdline=latest.cmdline or next((e.process.cmdline for e in life.exits if e.process.cmdline), ""),
        role=role,
        fate=life.fate,
        kernel=latest.kernel,
        cpu=latest.cpu,
        threads=latest.threads,
        user_ticks=_ticks(start["user_ns"], end["user_ns"], tick_ns),
        system_ticks=_ticks(start["system_ns"], end["system_ns"], tick_ns),
        relation=relation,
        **used,  # type: ignore[arg-type]
    )


def uses(
    joined: Iterable[Life], roles: Iterable[Role], relations: Mapping[int, Relation]
) -> tuple[ProcessUse, ...]:
    """Return what each process used. A relation, by the place in `joined`, makes it the query's where it is sure."""
    found = []
    for place, (life, role) in enumerate(zip(joined, roles, strict=True)):
        relation = relations.get(place)
        found.append(use_of(life, Role.QUERY if relation and relation.is_sure else role, relation=relation))
    return tuple(found)


def was_active(use: ProcessUse) -> bool:
    """A counter moved, or it was born or ended."""
    return use.fate is not Fate.STEADY or any(getattr(use, name) for name in COUNTERS)


def machine_use(before: Machine, after: Machine) -> MachineUse:
    """Differences of /proc/stat in ticks; a CPU that came or went is left out of `cpus`."""
    earlier = {cpu.cpu: cpu for cpu in before.cpus}
    return MachineUse(
        total=_cpu_difference(before.total, after.total),
        cpus=tuple(
            {"cpu": cpu.cpu, **_cpu_difference(earlier[cpu.cpu], cpu)}
            for cpu in after.cpus
            if cpu.cpu in earlier
        ),
        forks=after.forks - before.forks,
        context_switches=after.context_switches - before.context_switches,
    )


def unaccounted_births(before: Sequence[Process], after: Sequence[Process], exits: int, forks: int) -> int:
    """Forks that neither a snapshot nor an exit record explains (QE check 1).

    Tasks are conserved: births = tasks after - tasks before + exits. Threads
    count, since /proc/stat's `processes` counts their clones too. Below zero
    means that a task was born just outside the overall snapshots.
    """
    return forks - (tasks(after) - tasks(before) + exits)


def tasks(processes: Iterable[Process]) -> int:
    """Threads of all of them."""
    return sum(max(process.threads, 1) for process in processes)


def _same_life(one: Process, two: Process) -> bool:
    return abs(one.start_ns - two.start_ns) <= _SAME_LIFE_NS


def _totals(process: Process) -> Totals:
    return {name: getattr(process, name) for name in COUNTERS}


def _ended_totals(life: Life) -> Totals:
    """The sum of the exit records of its threads, but never less than it had before:
    a thread that ended before the listener began is in the first snapshot only."""
    if not life.exits:
        assert life.before is not None
        return _totals(life.before)
    start = _totals(life.before) if life.before else dict.fromkeys(COUNTERS, 0)
    totals: Totals = {}
    for name in COUNTERS:
        values = [getattr(exit_.process, name) for exit_ in life.exits]
        floor = start[name]
        totals[name] = None if None in values or floor is None else max(sum(values), floor)
    return totals


def _difference(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start


def _ticks(start_ns: int | None, end_ns: int | None, tick_ns: int) -> int:
    """Whole ticks as /proc would have shown them at both readings."""
    return (end_ns or 0) // tick_ns - (start_ns or 0) // tick_ns


def _cpu_difference(before: CpuTicks, after: CpuTicks) -> Mapping[str, int]:
    one, two = before.as_dict(), after.as_dict()
    return {name: two[name] - one[name] for name in two if name != "cpu"}
