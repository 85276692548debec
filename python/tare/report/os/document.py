"""Document of an observation, as `--json` writes it (`schemas/os-v1.json`).

Figures of a query are means over its observed executions, unless a comment says otherwise. Shares are fractions: 1.0
is all of the whole, or one CPU where the whole is wall time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from tare.os.record import Histogram, Observation
from tare.report.document import Document
from tare.report.ratio import Ratio


class Estimate(Document):
    """Median over executions with its 95% interval, ns. Fewer than six executions have no interval."""

    median_ns: float
    low_ns: float | None
    high_ns: float | None


class Resource(StrEnum):
    """Resource that the time of a role goes to."""

    USER = "user CPU"
    SYSTEM = "system CPU"
    CPU = "CPU"  # user and system are not told apart
    DISK = "disk"
    RUN_QUEUE = "run queue"
    SLEEP = "sleep"
    WAIT = "waiting"  # disk and sleep are not told apart


class Bottleneck(Document):
    """The critical role of a query, the one with the most active time, and what its time goes to.

    Active time: on a CPU, in a run queue, or waiting for a disk. The whole is the wall time, or the active time where
    the threads of the role were active for longer than that together. Sleep is the rest of it, with other waits."""

    node: str
    role: str
    resource: Resource  # with the largest share
    share: float
    shares: dict[Resource, float]
    whole_ns: float
    call: str | None = None  # with the most CPU time (system CPU, disk) or sleep (sleep)
    call_share: float | None = None  # of the role's system CPU time, or of its sleep
    read_share: float | None = None  # CPU time of read calls in the role's CPU time


class Part(StrEnum):
    """A part of the present time. CPU is user and system."""

    CPU = "CPU"
    USER = "user"
    SYSTEM = "system"
    RUN_QUEUE = "run queue"
    DISK = "disk"
    SLEEP = "sleep"
    OTHER = "other"
    RESIDUE = "residue"


class TimeParts(Document):
    """Times of a role, ns, with the share of each part in the present time."""

    threads: float
    present_ns: float
    parts_ns: dict[Part, float | None]
    shares: dict[Part, float | None]
    estimates: dict[Part, Estimate] = Field(default={})  # for the total over roles alone


class CallRow(Document):
    name: str
    count: float
    errors: float
    bytes: float
    on_cpu_ns: float
    on_cpu_each_ns: float | None
    run_queue_ns: float
    block_io_ns: float
    sleep_ns: float  # with other waits


class CallsReport(Document):
    """Calls of a role: those with the most time on a CPU, and the sum of all others."""

    rows: tuple[CallRow, ...]
    others: CallRow | None
    other_kinds: int


class CacheReport(Document):
    """Pages of buffered reads. The shares are of the requested pages."""

    reads: float
    requested: float
    ready: float | None
    in_flight: float | None  # None: in `ready`
    missed: float | None
    ahead: float
    mapped: float


class DiskReport(Document):
    """Block requests. Times are means of a request, over reads and writes."""

    reads: float
    read_bytes: float
    mean_read_bytes: float | None
    sequential: float | None  # share of the reads
    writes: float
    write_bytes: float
    queued_ns: float | None
    device_ns: float | None
    read_sizes: Histogram  # sums over all observed executions
    read_gaps: Histogram


class SocketsReport(Document):
    sends: float
    sent_bytes: float
    receives: float
    received_bytes: float
    local_sends: float
    local_sent_bytes: float
    local_receives: float
    local_received_bytes: float


class RoleReport(Document):
    """A role of a node. A part is None where it was not observed, or where events of it were lost."""

    node: str
    role: str
    time: TimeParts | None
    calls: CallsReport | None
    cache: CacheReport | None
    disk: DiskReport | None
    sockets: SocketsReport | None


class CallShare(Document):
    name: str
    share: float  # of the system CPU time


class Rate(Document):
    per_second: float
    per_jiffy: float  # 10 ms


class PaperProfile(Document):
    """Row of the paper's Table 1, for one node of two CPUs. Shares as fractions."""

    query: str
    user: float
    system: float
    calls: tuple[CallShare, ...]
    faults: float  # per jiffy, as the four that follow
    blocks_read: float
    blocks_written: float
    packets_sent: float
    packets_received: float
    cpu_during_io: float


class SystemProfile(Document):
    """Row of Table 1, over all roles. User, system and CPU use during I/O: 1.0 is one CPU."""

    user: float | None
    system: float | None
    calls: tuple[CallShare, ...] | None
    faults: Rate
    blocks_read: Rate | None  # of 4 KiB
    blocks_written: Rate | None
    packets_sent: Rate | None
    packets_received: Rate | None
    cpu_during_io: float | None
    paper: PaperProfile | None


class ReadCalls(Document):
    """Row of Table 2: CPU time in read calls over wall time."""

    share: float
    paper: float | None


class CheckKind(StrEnum):
    """Two counts of one thing, taken in different ways."""

    PARTS = "parts of time"
    SCHEDULER = "CPU and run queue"
    READ_BYTES = "bytes of read calls"
    WRITE_BYTES = "bytes of write calls"
    DISK_READS = "bytes read from disk"
    PAGES = "pages brought in"


class CheckResult(StrEnum):
    WITHIN = "within 1%"
    OUTSIDE = "not within 1%"
    TOO_SMALL = "too small to judge"


class Check(Document):
    """Sums over all roles and observed executions, ns or bytes."""

    kind: CheckKind
    query: str
    observed: float
    expected: float
    ratio: float | None
    result: CheckResult


class FindingKind(StrEnum):
    CPU_BOUND = "CPU-bound"
    CALL_BOUND = "system-call-bound"
    DISK_BOUND = "disk-bound"
    WAITS = "waits"
    RUN_QUEUE = "waits for a CPU"
    READ_AHEAD_ALL = "read-ahead fetched everything"
    READ_AHEAD_NOTHING = "read-ahead fetched nothing"
    ONE_ROLE = "one role does all work"
    NOT_WARM = "not warm"
    NOT_COLD = "not cold"
    MAPPED = "memory-mapped reads"
    LOST = "lost events"
    OUTSTANDING = "outstanding requests"


class Finding(Document):
    """A finding about a query. Evidence: numbers by name; names without a unit are shares, as fractions."""

    kind: FindingKind
    query: str
    evidence: dict[str, float]
    node: str | None = None
    role: str | None = None
    part: str | None = None  # of the record, whose events were lost


class Overhead(Document):
    """Traced over untraced executions, paired by query and number."""

    query: str | None  # None: over the pairs of all queries
    pairs: int
    wall: Ratio | None
    cpu: Ratio | None  # CPU time of the observed, by the kernel's own counters
    is_wall_measurable: bool
    is_cpu_measurable: bool


class NoOverhead(StrEnum):
    """Why there is no overhead."""

    NOTHING_TRACED = "nothing traced"
    NO_UNTRACED = "no untraced windows"
    FEW_PAIRS = "fewer than two pairs"


class QueryReport(Document):
    name: str
    executions: int  # observed ones
    mean_wall_ns: float
    wall: Estimate
    bottleneck: Bottleneck | None
    total: TimeParts | None
    roles: tuple[RoleReport, ...]
    profile: SystemProfile | None
    read_calls: ReadCalls | None
    write_back: DiskReport | None  # by kernel threads, of the whole machine
    lost: dict[str, int]  # events, by part


class OsReport(Document):
    version: Literal[1] = 1
    title: str
    written_at: str
    written_by: str
    observation: Observation
    is_reliable: bool  # no event was lost, and no check is outside of 1%
    has_nodes: bool  # more than one
    queries: tuple[QueryReport, ...]
    resources: dict[Resource, int]  # number of queries by bottleneck
    findings: tuple[Finding, ...]
    overheads: tuple[Overhead, ...]  # the first over all queries
    no_overhead: NoOverhead | None
    checks: tuple[Check, ...]
    check_results: dict[CheckResult, int]
