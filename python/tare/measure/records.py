"""Records of a measurement: raw readings and their differences, in run order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tare.dbms.base import Role
from tare.dbms.extent import Extent
from tare.errors import TareError
from tare.measure.lacks import Lack

if TYPE_CHECKING:
    from tare._probe import Machine, Timeline
    from tare.measure.answers import AnswerCheck
    from tare.measure.differences import Life
    from tare.measure.elapsed import LeaderReading


class Fate(StrEnum):
    """How a process relates to the QE's interval (TTPv1 §7.2, TTPv2 §7.1)."""

    STEADY = "steady"  # in both snapshots
    STARTED = "started"  # only in the second
    STOPPED = "stopped"  # only in the first, with an exit record
    PHANTOM = "phantom"  # in neither, known from its exit record
    UNSEEN_END = "unseen-end"  # only in the first, and no exit record


class Relation(StrEnum):
    """How a process is known to have worked for the query, or why it may have."""

    CHILD = "child"  # of a query process
    SESSION = "session"  # born in the session of a query process, whose end it outlived
    CLIENT = "client"  # a backend whose client is a query process
    PARALLEL_WORKER = "parallel-worker"  # of such a backend
    SHORT_CONNECTION = "short-connection"  # a backend of a server to which the query opens connections
    SHARED_SERVER = "shared-server"  # serves a query process, and perhaps others
    UNSEEN_CLIENT = "unseen-client"  # its client came and went within the execution
    HIDDEN = "hidden"  # a backend, and this user may not see whose connections the query opens

    @property
    def is_sure(self) -> bool:
        """Whether the process is the query's; else that cannot be told."""
        return self not in (Relation.SHARED_SERVER, Relation.UNSEEN_CLIENT, Relation.HIDDEN)


class Outcome(StrEnum):
    """How a QE ended. Only `OK` ones are summed up; the others stay as rows."""

    OK = "ok"
    TIMEOUT = "timeout"
    FAILED = "failed"
    PLAN_CHANGED = "plan-changed"  # its Q@C was restarted under another plan (TTPv2 §3.2.3)


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """Use of a process between the two per-process snapshots. ns, counts; None = unknown."""

    pid: int
    ppid: int
    comm: str
    cmdline: str
    role: Role
    fate: Fate
    kernel: bool
    cpu: int
    threads: int
    user_ticks: int
    system_ticks: int
    user_ns: int
    system_ns: int
    guest_ns: int | None
    run_ns: int | None
    run_queue_ns: int | None
    slices: int | None
    block_io_ns: int | None
    min_faults: int | None
    maj_faults: int | None
    voluntary_switches: int | None
    involuntary_switches: int | None
    read_calls: int | None
    write_calls: int | None
    read_chars: int | None
    write_chars: int | None
    read_bytes: int | None
    write_bytes: int | None
    relation: Relation | None = None  # None: the DBMS itself knows its role, or it has none


@dataclass(frozen=True, slots=True)
class MachineUse:
    """Differences of /proc/stat between the two overall snapshots, in ticks."""

    total: Mapping[str, int]  # user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
    cpus: tuple[Mapping[str, int], ...]
    forks: int
    context_switches: int


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The leader's timeline over the clocked interval: parts that add up to the wall time. ns.

    `why` has the cause for each part that is None."""

    wall_ns: int
    cpu_ns: int | None
    user_ns: int | None  # sampled split of cpu_ns
    system_ns: int | None
    interrupt_ns: int | None  # of cpu_ns: interrupts served on its back; traced
    block_io_ns: int | None
    run_queue_ns: int | None
    sleep_ns: int | None
    steal_ns: int | None
    residue_ns: int | None  # wall - the sum of the known parts
    why: Mapping[str, Lack] = field(default_factory=dict)
    throttled_ns: int | None = 0  # its control group had used up its CPU quota; not in run_queue_ns


@dataclass(frozen=True, slots=True)
class Phases:
    """Two adjacent parts of a QE whose planning is clocked: each pair adds up to the total. ns.

    CPU is of every query process. `why` has the cause for each field that is None."""

    planning_ns: int | None  # from the first clock: parsing and planning
    execution_ns: int | None  # to the second clock: running, and receiving the whole result
    planning_cpu_ns: int | None  # of the leader, which plans alone
    execution_cpu_ns: int | None  # of all that is left; with what follows the second clock, as in `Resources`
    why: Mapping[str, Lack] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resources:
    """CPU and I/O summed over every process that worked for the query. ns, bytes."""

    processes: int
    cpu_ns: int | None
    user_ns: int | None
    system_ns: int | None
    block_io_ns: int | None
    run_queue_ns: int | None
    read_bytes: int | None
    write_bytes: int | None
    utility_cpu_ns: int | None  # beside, never mixed in: the DBMS's other processes
    utility_block_io_ns: int | None
    utility_read_bytes: int | None
    unattributed_cpu_ns: int | None = (
        0  # beside: of processes that may have worked for the query (`Relation`)
    )
    leader_cpu_ns: int | None = None  # of cpu_ns: the leader's thread, and every other thread and process
    workers_cpu_ns: int | None = None
    why: Mapping[str, Lack] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileResidence:
    """A file outside the database that the query reads. Bytes; None where this user cannot look."""

    path: str
    resident_bytes: int | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class Residence:
    """Pages in memory just before the clock started: the proof of cold or warm.

    `page_cache_bytes` and `file_bytes` are of the database's own files."""

    page_cache_bytes: int | None
    file_bytes: int | None
    page_cache_how: str
    buffer_bytes: int | None
    buffer_how: str
    buffers_emptied: str | None  # how the DBMS's buffers were emptied before this QE, if they were
    query_files: tuple[FileResidence, ...] = ()  # outside the database, as an untimed execution found them
    query_files_how: str = ""  # "fanotify", "descriptors"; empty where they were not looked for
    query_files_complete: bool = False  # no file can have been missed


@dataclass(frozen=True, slots=True)
class OwnCost:
    """Use of Tare itself around a QE. ns, bytes."""

    cpu_ns: int  # of our process between the two per-process snapshots
    snapshots_ns: int  # wall time of the two per-process snapshots
    rss_bytes: int


@dataclass(frozen=True, slots=True)
class RawReadings:
    """Both readings of everything whose difference a QE holds, so that each can be computed anew.

    Clocks and snapshots are CLOCK_MONOTONIC, ns; counters are cumulative, as the kernel gave them.
    """

    clock_1: int
    clock_2: int
    snapshot_1: tuple[int, int]  # began and ended
    snapshot_2: tuple[int, int]
    machine_1: Machine
    machine_2: Machine
    lives: tuple[Life, ...]  # of the processes that were active, and of the query processes
    rested: int  # processes in both snapshots of which no counter moved: not in `lives`
    tasks_1: int  # threads of all processes in the first snapshot, and in the second
    tasks_2: int
    exits: int  # exit records between the snapshots, those of threads too
    instructions_1: int | None
    instructions_2: int | None
    leader_1: LeaderReading | None
    leader_2: LeaderReading | None
    timeline_at_clock_2: Timeline | None
    no_trace: str  # why there is no scheduler trace or no delay accounting; empty where there is
    no_delay: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Figures of a kernel trace for a QE: ground truth, next to the counters. ns; None: no trace was taken.

    Summed over every thread of the query's processes; the five times add up to how long these lived within
    the clocked interval.
    """

    accepted: bool
    why: str | None  # why it was rejected
    cpu_ns: int | None = None  # without steal
    run_queue_ns: int | None = None
    block_io_ns: int | None = None
    sleep_ns: int | None = None  # every other wait
    steal_ns: int | None = None
    disk_ns: int | None = None  # a block request of the query's processes was with its device
    disk_requests: int | None = None
    switch_ins: int | None = None  # traced
    slices: int | None = None  # as many, by the kernel's own count


@dataclass(frozen=True, slots=True)
class QE:
    """A query execution, with all that the protocols need of it."""

    index: int  # run order, from 0, over the whole run
    query: int  # which query of the run
    started_at: str  # UTC, ISO 8601
    warmup: bool
    outcome: Outcome
    error: str | None
    plan_fingerprint: str | None
    row_count: int | None
    answer_hash: str | None  # of the answer that it counts as: answers that are the same have one
    residence: Residence | None
    elapsed: Elapsed | None
    resources: Resources | None
    instructions: int | None  # user mode, all query processes
    machine: MachineUse | None
    online_cpus: int
    processes: tuple[ProcessUse, ...]
    births: int | None  # tasks born during the QE, as the listener counted
    exits: int | None  # exit records received
    exits_lost: int | None
    unaccounted_births: int | None  # forks that neither a snapshot nor an exit record explains
    leader_pid: int | None
    leader_how: str
    own: OwnCost | None
    raw: RawReadings | None = None
    audit: Audit | None = None
    phases: Phases | None = None  # None where only the execution was clocked
    answer: AnswerCheck | None = None  # None where the execution returned none
    failure: TareError | None = None  # what the DBMS raised; `error` is its message
    met: Extent | None = None  # the database before the execution; None where it may not be changed
