"""The raw readings of a QE as the lab keeps them: JSON, compressed with zlib, that names its own fields.

Version 1 is an object with these members. A *row* is an array of values in the order of the named list of fields;
`null` is an unknown value or an absent row.

    version           1
    clock             [first, second], ns of CLOCK_MONOTONIC, as are all instants here
    snapshots         [[began, ended], [began, ended]]
    process_fields    names; of the rows of processes and threads
    cpu_fields        names; of the rows of /proc/stat
    timeline_fields   names; of the rows of the scheduler trace
    machine           [first, second], each {taken_ns, total: cpu row, cpus: [cpu row], forks, context_switches,
                      running, blocked}
    lives             [[process row, process row, [[process row, last_of_group, ended_ns, exit_code]]]]: first
                      reading, second reading, exit records of the process and its threads
    rested            processes in both snapshots of which no counter moved
    tasks             [first, second], threads of all processes
    exits             exit records between the snapshots
    instructions      [first, second]
    leader            [first, second], each [process row of its thread, timeline row]
    leader_at_clock_2 timeline row
    no_trace, no_delay  why there is no scheduler trace or no delay accounting; empty where there is
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from tare._probe import CpuTicks, Exit, Machine, Process, Timeline
from tare.dbms.redaction import redacted_text
from tare.errors import LabError, LabTooNew
from tare.lab.schema import OVERALL_TICKS
from tare.measure.differences import COUNTERS, Life
from tare.measure.elapsed import LeaderReading
from tare.measure.records import RawReadings

VERSION = 1

_PROCESS = (
    "pid", "tgid", "ppid", "comm", "cmdline", "uid", "start_ns", "kernel", "threads", "cpu",
    "child_guest_ns", *COUNTERS,
)  # fmt: skip
_CPU = ("cpu", *OVERALL_TICKS)
_TIMELINE = (
    "tid", "followed_ns", "as_of_ns", "on_cpu_ns", "run_queue_ns", "sleep_ns", "block_io_ns", "other_wait_ns",
    "stolen_ns", "interrupted_ns", "since_ns", "switch_ins", "slices", "alive", "trusted", "state",
)  # fmt: skip
_EXIT = ("last_of_group", "ended_ns", "exit_code")
_MACHINE = ("taken_ns", "forks", "context_switches", "running", "blocked")

_MOST_BYTES = 256 << 20
"""Largest size of a QE's readings, unpacked: damaged or hostile ones may claim any size."""


def encode(raw: RawReadings) -> bytes:
    document = {
        "version": VERSION,
        "clock": [raw.clock_1, raw.clock_2],
        "snapshots": [raw.snapshot_1, raw.snapshot_2],
        "process_fields": _PROCESS,
        "cpu_fields": _CPU,
        "timeline_fields": _TIMELINE,
        "machine": [_machine(raw.machine_1), _machine(raw.machine_2)],
        "lives": [_life(life) for life in raw.lives],
        "rested": raw.rested,
        "tasks": [raw.tasks_1, raw.tasks_2],
        "exits": raw.exits,
        "instructions": [raw.instructions_1, raw.instructions_2],
        "leader": [_leader(raw.leader_1), _leader(raw.leader_2)],
        "leader_at_clock_2": _row(raw.timeline_at_clock_2, _TIMELINE),
        "no_trace": raw.no_trace,
        "no_delay": raw.no_delay,
    }
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode("ascii"))


def decode(data: bytes) -> RawReadings:
    """Readings shaped as the probe's, so that the same arithmetic takes them.

    Raises LabError for what is damaged, LabTooNew for a later version."""
    try:
        document = json.loads(_unpacked(data))
        version = document["version"]
        if version == VERSION:
            return _Decoder(document).readings()
    except (zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise LabError(
            f"a QE's raw readings are damaged ({type(error).__name__}: {error})",
            "take another copy of the lab, or of the export it came from",
        ) from error
    raise LabTooNew(
        f"a QE's raw readings are of version {version}; this Tare knows {VERSION}",
        "update Tare (pip install --upgrade tare-db)",
    )


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, _MOST_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("cut short, or more than one QE can have")
    return text


# To JSON ------------------------------------------------------------------------
def _row(of: object | None, fields: Sequence[str]) -> list[Any] | None:
    return None if of is None else [getattr(of, name) for name in fields]


def _machine(machine: Machine) -> dict[str, Any]:
    return {
        **{name: getattr(machine, name) for name in _MACHINE},
        "total": _row(machine.total, _CPU),
        "cpus": [_row(cpu, _CPU) for cpu in machine.cpus],
    }


def _life(life: Life) -> list[Any]:
    ended = [[_process(exit_.process), *(_row(exit_, _EXIT) or ())] for exit_ in life.exits]
    return [_process(life.before), _process(life.after), ended]


def _leader(reading: LeaderReading | None) -> list[Any] | None:
    if reading is None:
        return None
    return [_process(reading.process), _row(reading.timeline, _TIMELINE)]


def _process(process: Process | None) -> list[Any] | None:
    """A process's counters, and its command line without passwords."""
    if process is None:
        return None
    return [
        redacted_text(value) if name == "cmdline" else value
        for name, value in zip(_PROCESS, _row(process, _PROCESS) or (), strict=True)
    ]


# From JSON ----------------------------------------------------------------------
class _Ticks(SimpleNamespace):
    def as_dict(self) -> dict[str, int]:
        return dict(vars(self))


class _Decoder:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def readings(self) -> RawReadings:
        get = self._document.__getitem__
        clock_1, clock_2 = get("clock")
        (began_1, ended_1), (began_2, ended_2) = get("snapshots")
        tasks_1, tasks_2 = get("tasks")
        instructions_1, instructions_2 = get("instructions")
        machine_1, machine_2 = get("machine")
        leader_1, leader_2 = get("leader")
        return RawReadings(
            clock_1=clock_1,
            clock_2=clock_2,
            snapshot_1=(began_1, ended_1),
            snapshot_2=(began_2, ended_2),
            machine_1=self._machine(machine_1),
            machine_2=self._machine(machine_2),
            lives=tuple(self._life(*life) for life in get("lives")),
            rested=get("rested"),
            tasks_1=tasks_1,
            tasks_2=tasks_2,
            exits=get("exits"),
            instructions_1=instructions_1,
            instructions_2=instructions_2,
            leader_1=self._leader(leader_1),
            leader_2=self._leader(leader_2),
            timeline_at_clock_2=self._timeline(get("leader_at_clock_2")),
            no_trace=get("no_trace"),
            no_delay=get("no_delay"),
        )

    def _named(self, fields: str, row: list[Any]) -> dict[str, Any]:
        return dict(zip(self._document[fields], row, strict=True))

    def _process(self, row: list[Any] | None) -> Process | None:
        return cast("Process", SimpleNamespace(**self._named("process_fields", row))) if row else None

    def _timeline(self, row: list[Any] | None) -> Timeline | None:
        return cast("Timeline", SimpleNamespace(**self._named("timeline_fields", row))) if row else None

    def _ticks(self, row: list[Any]) -> CpuTicks:
        return cast("CpuTicks", _Ticks(**self._named("cpu_fields", row)))

    def _machine(self, found: dict[str, Any]) -> Machine:
        total, cpus = self._ticks(found["total"]), [self._ticks(row) for row in found["cpus"]]
        return cast("Machine", SimpleNamespace(**{**found, "total": total, "cpus": cpus}))

    def _life(self, before: list[Any] | None, after: list[Any] | None, ended: list[Any]) -> Life:
        return Life(self._process(before), self._process(after), tuple(self._exit(*one) for one in ended))

    def _exit(self, process: list[Any], *more: Any) -> Exit:
        named = dict(zip(_EXIT, more, strict=True))
        return cast("Exit", SimpleNamespace(process=self._process(process), **named))

    def _leader(self, found: list[Any] | None) -> LeaderReading | None:
        if found is None:
            return None
        process = self._process(found[0])
        if process is None:
            raise ValueError("the leader's thread is missing")
        return LeaderReading(process, self._timeline(found[1]))
