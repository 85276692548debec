"""Record of an observation: what the kernel counted for each node and role in each window, as it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import Any, Self

from pydantic import Field

from tare.os.level import Level
from tare.records import Record

PATIENCE_S = 1.0
"""Time that block requests have to be done after the end of their window. The kernel's deadline scheduler lets no read
wait for more than 0.5 s if it can."""


class _Sum(Record):
    """Counts that add up field by field. A field that one part lacks (None) is None in the sum."""

    def __add__(self, other: Self) -> Self:
        fields = {name: _added(getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        return type(self)(**fields)


def _added(one: Any, other: Any) -> Any:
    """Sum of two fields: numbers, sums, or (key, count) pairs. None if either is None."""
    if one is None or other is None:
        return None
    if isinstance(one, tuple):
        sums = Counter(dict(one))
        sums.update(dict(other))
        return tuple(sorted(sums.items()))
    return one + other


class Times(_Sum):
    """Time of threads, ns. on_cpu + run_queue + sleep + block_io + other_wait + residue = present."""

    present_ns: int = 0  # in the window, summed over threads
    on_cpu_ns: int = 0
    run_queue_ns: int | None = 0
    sleep_ns: int | None = 0  # interruptible: sockets, timers, futexes, idle
    block_io_ns: int | None = 0  # uninterruptible, in the kernel's own iowait
    other_wait_ns: int | None = 0  # uninterruptible otherwise, stopped
    system_ns: int | None = (
        0  # of on_cpu: in system calls (full), or the kernel's stime (proc); None: not observed
    )

    @property
    def residue_ns(self) -> int | None:
        parts = (self.on_cpu_ns, self.run_queue_ns, self.sleep_ns, self.block_io_ns, self.other_wait_ns)
        known = [part for part in parts if part is not None]
        return self.present_ns - sum(known) if len(known) == len(parts) else None

    @property
    def user_ns(self) -> int | None:
        """On a CPU outside of system calls: faults and interrupts are in it, except at level proc."""
        return None if self.system_ns is None else self.on_cpu_ns - self.system_ns


class Kept(_Sum):
    """The kernel's own counters of the same threads: what the trace is checked against."""

    run_ns: int | None = 0  # schedstat: time on a CPU
    run_delay_ns: int | None = 0  # schedstat: time in a run queue
    read_chars: int | None = 0  # /proc/PID/io
    write_chars: int | None = 0
    read_calls: int | None = 0
    write_calls: int | None = 0
    read_bytes: int | None = 0  # caused to be read from a device
    write_bytes: int | None = 0
    minor_faults: int = 0
    major_faults: int = 0
    voluntary: int = 0  # context switches
    involuntary: int = 0


class Call(_Sum):
    """System calls of one kind that returned in the window. Times: ns in the window, from entry to return, also of
    calls that returned later. A long call has time in windows that do not count it."""

    count: int = 0
    errors: int = 0
    bytes: int = 0  # sum of positive results of calls that move bytes; 0 for all others
    on_cpu_ns: int = 0
    run_queue_ns: int = 0
    sleep_ns: int = 0
    block_io_ns: int = 0
    other_wait_ns: int = 0

    @property
    def wall_ns(self) -> int:
        return self.on_cpu_ns + self.run_queue_ns + self.sleep_ns + self.block_io_ns + self.other_wait_ns


class PageCache(_Sum):
    """Buffered reads and the page cache, in pages of 4 KiB (the machine's page size).

    requested = ready + in flight + missed; ready is what remains."""

    reads: int = 0  # buffered reads
    requested: int = 0
    missed: int = 0  # brought in by the read itself
    in_flight: int | None = (
        0  # pages of reads that missed nothing and waited for a disk; None below level full
    )
    ahead: int = 0  # brought in beyond the request: read-ahead
    mapped: int = 0  # brought in outside of reads: page faults of mapped files

    @property
    def ready(self) -> int:
        return self.requested - self.missed - (self.in_flight or 0)


class Histogram(_Sum):
    """Counts by power of two: (exponent, count), where a value v counts under floor(log2 v), 0 under -1."""

    buckets: tuple[tuple[int, int], ...] = ()


class Disk(_Sum):
    """Block requests by their submitter, in the window in which they were submitted."""

    reads: int = 0
    read_bytes: int = 0
    sequential: int = 0  # reads that begin where the thread's last one on this device ended
    writes: int = 0
    write_bytes: int = 0
    queued_ns: int = 0  # submitted, not yet issued to the device; summed over requests
    device_ns: int = 0  # issued, not yet done; summed over requests
    read_sizes: Histogram = Histogram()  # bytes
    read_gaps: Histogram = Histogram()  # µs between submissions of successive reads of a role
    outstanding: int = (
        0  # not done when Tare stopped waiting for them; in no other count, and in no later window
    )


class Sockets(_Sum):
    """Sends and receives by system calls on sockets. Local: Unix sockets."""

    sends: int = 0
    sent_bytes: int = 0
    receives: int = 0
    received_bytes: int = 0
    local_sends: int = 0
    local_sent_bytes: int = 0
    local_receives: int = 0
    local_received_bytes: int = 0


class RoleCounts(Record):
    """Counts of a role on a node in a window. A part is None where the level or the kernel does not give it."""

    node: str
    role: str
    threads: int
    times: Times
    kept: Kept
    calls: dict[str, Call] | None = None  # by name, those that occurred
    cache: PageCache | None = None
    disk: Disk | None = None
    sockets: Sockets | None = None


class Message(Record):
    """A message that a process sent to an address by one system call."""

    at_ns: int  # monotonic, when the call began
    node: str
    role: str
    sender: str  # address:port
    receiver: str
    bytes: int
    hash: int | None  # of the whole payload; None where it was not read whole
    head: str  # its first eight bytes, hexadecimal


class FileReads(Record):
    """Buffered reads of a file by the threads of a role. Pages are those of the page cache."""

    node: str
    role: str
    file: str  # table, index or file name; "file INODE on DEVICE" where it is unknown
    path: str | None
    reads: int
    pages: int  # requested
    missed: int  # of pages: brought in by the read itself
    in_flight: int  # of pages: on their way from a disk
    sequential: int  # reads that begin at the page after the last one that the thread read of this file
    points: tuple[tuple[float, int, int, int], ...]  # ms since the window began, first page, pages, missed
    thinned: bool  # points are an even selection of the reads


class Window(Record):
    """An interval in which counts were read, at its start and at its end."""

    name: str  # query, or "load"
    number: int  # from 0; a traced and an untraced execution of a query make a pair, and have the same
    is_traced: bool
    started_at: str  # UTC, ISO 8601
    wall_ns: int  # of the query as its client saw it, or of the interval
    read_ns: int  # what the counts are of: a little more than wall_ns
    io_busy_ns: int | None = None  # a request of the observed was outstanding
    io_on_cpu_ns: int | None = None  # CPU time of the observed within io_busy_ns
    roles: tuple[RoleCounts, ...] = ()
    messages: tuple[Message, ...] = ()
    files: tuple[FileReads, ...] = ()  # most pages first
    packets_in: int | None = None  # of the network namespaces' interfaces
    packets_out: int | None = None
    write_back: Disk | None = None  # requests that kernel threads submitted, of the whole machine
    lost: dict[str, int] = Field(
        default={}
    )  # events that found no room, by part: "calls", "disk", "messages", …

    def total(self) -> RoleCounts:
        """Sum over nodes and roles."""
        return summed(self.roles)


def summed(parts: Iterable[RoleCounts], node: str = "", role: str = "") -> RoleCounts:
    """Sum of counts, under this node and role. A part that one lacks is None."""

    def both(one: RoleCounts, other: RoleCounts) -> RoleCounts:
        calls: dict[str, Call] | None = None
        if one.calls is not None and other.calls is not None:
            calls = dict(one.calls)
            for name, call in other.calls.items():
                calls[name] = calls.get(name, Call()) + call
        return RoleCounts(
            node=node,
            role=role,
            threads=one.threads + other.threads,
            times=one.times + other.times,
            kept=one.kept + other.kept,
            calls=calls,
            cache=_added(one.cache, other.cache),
            disk=_added(one.disk, other.disk),
            sockets=_added(one.sockets, other.sockets),
        )

    empty = RoleCounts(
        node=node,
        role=role,
        threads=0,
        times=Times(),
        kept=Kept(),
        calls={},
        cache=PageCache(),
        disk=Disk(),
        sockets=Sockets(),
    )
    return reduce(both, parts, empty)


class Observation(Record):
    """An observation as a whole."""

    level: Level
    subject: str  # "PostgreSQL 18.4 (postgresql://…)", "processes 12, 15"
    dbms: str | None
    server_version: str | None
    url: str | None
    started_at: str
    online_cpus: int
    page_bytes: int
    kernel: str
    windows: tuple[Window, ...]
    queries: dict[str, str] = Field(default={})  # text by name
    failures: dict[str, str] = Field(default={})  # error by name of the query that could not be run
    absent: dict[str, str] = Field(
        default={}
    )  # why a part is not observed, by part: "calls", "cache", "disk", …
    lacks: str | None = None  # what a deeper level would need here
    notes: tuple[str, ...] = ()
    cold: bool = False
    read_ahead_kb: int | None = None  # of the device that holds the data
    is_stopped: bool = False  # Ctrl-C before its end
