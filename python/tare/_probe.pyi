"""What the Linux kernel says of processes and of the machine.

Every counter is cumulative since the process (or the machine) was born and is
kept raw; differences are taken downstream. Times are nanoseconds unless a name
ends in ``_ticks`` (one tick is ``1 / USER_HZ`` seconds). ``monotonic`` means
CLOCK_MONOTONIC, the clock of :func:`time.monotonic_ns`. A counter is ``None``
where this tier, this kernel or this user's rights cannot give it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import final

TICK_NS: int
"""Nanoseconds in one tick, from sysconf(_SC_CLK_TCK)."""

class ProbeError(OSError):
    """A kernel interface refused; the text says which, why and what to do."""

@final
class Attempt:
    """One tier (or one capability) tried at start."""

    name: str  # "bpf", "taskstats", "procfs"
    works: bool
    reason: str  # what was seen when it was tried
    next_step: str  # what would make it work; empty if it does

@final
class Process:
    """One process, or one thread of it, as a snapshot saw it."""

    pid: int  # the thread's id where this is a thread, else the process's
    tgid: int
    ppid: int
    comm: str
    cmdline: str  # empty for kernel threads and where it cannot be read
    uid: int | None
    start_ns: int  # since boot, at tick precision; with pid it names one life
    kernel: bool  # a kernel thread
    threads: int
    cpu: int  # the CPU it last ran on, -1 if unknown
    user_ns: int  # sampled split, scaled so that user + system = run time
    system_ns: int
    guest_ns: int | None
    child_guest_ns: int | None
    run_ns: int | None  # exact (scheduler's clock), all threads, dead ones too
    run_queue_ns: int | None
    slices: int | None  # times it was given a CPU
    block_io_ns: int | None  # delay accounting; see `delay_accounting()`
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
    def as_dict(self) -> dict[str, int | str | bool | None]: ...

@final
class Snapshot:
    """All processes at one moment. Opaque and cheap; rows are made on demand."""

    started_ns: int  # monotonic
    ended_ns: int
    tier: str
    vanished: int  # processes that ended while they were being read
    def __len__(self) -> int: ...
    def processes(self) -> list[Process]: ...
    def threads(self, tgid: int) -> list[Process]: ...

@final
class CpuTicks:
    cpu: int  # -1 for the sum over CPUs
    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int
    guest: int
    guest_nice: int
    def as_dict(self) -> dict[str, int]: ...

@final
class Machine:
    """/proc/stat at one moment, in ticks."""

    taken_ns: int  # monotonic
    total: CpuTicks
    cpus: list[CpuTicks]
    forks: int  # `processes`: also counts thread clones
    context_switches: int
    running: int
    blocked: int

@final
class Exit:
    """The last reading of a thread or process that ended."""

    process: Process  # pid is the thread's; user/system/run totals are of this thread
    last_of_group: bool  # its whole process ended with it
    ended_ns: int  # monotonic, as seen by the kernel or, for taskstats, on receipt
    exit_code: int

@final
class ExitListener:
    """Records every task that ends, from `Probe.listen()` until `stop()`."""

    how: str  # "bpf" or "taskstats"
    def drain(self) -> list[Exit]:
        """The records so far, oldest first, each handed out once; all tasks that ended before the call are in."""
    def lost(self) -> int:
        """Records known to be lost since the start (never silently)."""
    def births(self) -> int | None:
        """Tasks (threads too) that were born since the start; None if not counted."""
    def stop(self) -> None: ...

@final
class Timeline:
    """Where one thread's time went since `Probe.follow()`, up to `as_of_ns`.

    on_cpu + run_queue + sleep + block_io + other_wait = as_of_ns - followed_ns.
    """

    tid: int
    followed_ns: int  # monotonic
    as_of_ns: int
    on_cpu_ns: int  # wall time between switch-in and switch-out: includes steal
    run_queue_ns: int
    sleep_ns: int  # interruptible
    block_io_ns: int  # uninterruptible and in_iowait
    other_wait_ns: int  # uninterruptible, not in_iowait; stopped; traced
    stolen_ns: int  # of on_cpu: taken by the hypervisor
    interrupted_ns: int  # of on_cpu: interrupts served, not its own packets' softirqs
    since_ns: int  # monotonic: when it came to where it is now
    switch_ins: int  # must equal the change in schedstat's slices, else distrust
    slices: int  # schedstat's own count at as_of_ns minus that at followed_ns
    alive: bool
    trusted: bool  # switch_ins == slices
    state: str  # where it is now: "on_cpu", "run_queue", "sleep", "block_io", "other_wait"

@final
class Follower:
    """A scheduler trace of few threads, summed in the kernel (BPF tier only)."""

    def read(self) -> list[Timeline]: ...
    def stop(self) -> None: ...

@final
class Instructions:
    """User-mode instructions of processes, and of the children that `with_children` fork."""

    def read(self) -> int: ...
    def close(self) -> None: ...

@final
class Residency:
    path: str
    size_bytes: int
    page_bytes: int
    pages: int
    resident: int  # pages in the page cache
    dirty: int | None  # pages not yet on disk; None where only mincore works
    how: str  # "cachestat" or "mincore"

@final
class Probe:
    """Reads the kernel through the best tier that works for this user.

    `tier` asks for one of them ("bpf", "taskstats", "procfs"); asking for one
    that does not work raises ProbeError with its reason.
    """

    tier: str
    attempts: list[Attempt]
    def __init__(self, tier: str | None = None) -> None: ...
    def processes(self, threads_of: Sequence[int] = ()) -> Snapshot: ...
    def machine(self) -> Machine: ...
    def listen(self) -> ExitListener:
        """Raises ProbeError in the procfs tier."""
    def follow(self, tids: Sequence[int]) -> Follower:
        """Raises ProbeError outside the BPF tier."""
    def close(self) -> None: ...

@final
class ThreadParts:
    """Where one thread's time went within an interval of a recording, ns.

    on_cpu + run_queue + sleep + block_io + other_wait = present.
    """

    tid: int
    tgid: int
    present_ns: int  # how much of the interval it lived
    on_cpu_ns: int  # includes steal
    run_queue_ns: int
    sleep_ns: int  # interruptible
    block_io_ns: int  # uninterruptible and in_iowait
    other_wait_ns: int  # uninterruptible, not in_iowait; stopped; traced
    stolen_ns: int  # of on_cpu: taken by the hypervisor; of a slice that the interval cuts, a share
    own_io_ns: int  # of block_io: while a request of the chosen processes was with its device
    switch_ins: int
    slices: int  # as many, by the kernel's own count
    why: str | None  # why its trace cannot be whole; None if nothing speaks against it

@final
class DiskParts:
    """Block requests within an interval. A request is its submitter's: for whom a kernel thread submits
    (write-back, journal), and who else waits for a page on its way, is not known."""

    in_flight_ns: int  # at least one of the chosen processes' was with its device
    outstanding_ns: int  # … was submitted and not done
    requests: int
    bytes: int
    others_ns: int  # at least one of somebody else's was with its device
    others_requests: int
    kernel_requests: int  # of the others': submitted by threads of the kernel

@final
class CpuParts:
    """One CPU's idle time within an interval, ns. iowait: idle while a thread that last ran there waits for I/O."""

    cpu: int
    idle_ns: int  # iowait included
    iowait_ns: int
    own_iowait_ns: int  # of iowait: while a thread of the chosen processes was among those that waited
    own_disk_ns: int  # of iowait: while a request of the chosen processes was with its device
    unknown_ns: int  # a switch was missed: what the CPU did is not known, and is in none of the above

@final
class Weighed:
    """What a recording says of an interval, for chosen processes."""

    threads: list[ThreadParts]  # those that lived in it
    disk: DiskParts
    cpus: list[CpuParts]  # those that switched at all
    why: list[str]  # why it is not to be believed; empty if nothing speaks against it

@final
class Recording:
    """A finished trace. Ask it about any interval in it, for any of the traced processes."""

    began_ns: int  # monotonic
    ended_ns: int
    events: int
    dropped: int  # events that found no room
    passed_over: dict[str, int]  # calls of a program that the kernel left out, where it tells of any
    def weigh(self, begin_ns: int, end_ns: int, processes: Sequence[int]) -> Weighed: ...

@final
class Tracer:
    """A kernel trace of processes, their threads and the children they fork, with all switches of the
    machine's CPUs and all block requests, until `finish()` or `stop()`. Keeps every event in memory, some
    50 bytes each. Raises ProbeError where BPF does not work."""

    def __init__(self, processes: Sequence[int]) -> None: ...
    def finish(self) -> Recording:
        """Stops it. Threads should be at rest, or the last slice of each is not confirmed."""
    def stop(self) -> None:
        """Stops it and forgets what it recorded."""

def read_process(pid: int, tid: int | None = None) -> Process:
    """One process (or thread) from /proc alone. Raises ProbeError if it is gone."""

def count_instructions(pids: Sequence[int], with_children: Sequence[int] = ()) -> Instructions:
    """Raises ProbeError where the CPU, the hypervisor or the rights give no counter."""

def delay_accounting() -> bool | None:
    """kernel.task_delayacct; None where the kernel has none."""

def residency(paths: Sequence[str]) -> list[Residency]: ...
def evict(paths: Sequence[str]) -> None:
    """posix_fadvise(DONTNEED); dirty pages stay. Raises ProbeError naming the file."""

@final
class LabRows:
    """Rows of a SQLite lab by Arrow's PyCapsule interface; to be read once."""

    misfit: bool  # a value was not of its column's kind, and so the stream ended with an error
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def read_lab(path: Path, writable: bool, sql: str, columns: Sequence[tuple[str, str, list[str]]]) -> LabRows:
    """The answer to a query of just these columns: name, kind ("int32", "int64", "boolean", "text", "word") and,
    of a word, the words: it arrives as its place among them. Raises ValueError for an unknown kind; what SQLite
    refuses comes as the stream's error."""

def oltp_kinds(workload: str) -> list[tuple[str, float, bool]]:
    """The types of a transactional workload, in numbering order: name, percent of the default mix, and whether it
    may change anything. Raises ValueError for a workload that nobody knows."""

def write_wisconsin(descriptor: int, size: int, tuples: int, header: bool = False) -> None:
    """Writes the first `tuples` of a 1993 Wisconsin relation of `size` as CSV to an open file. The GIL is free
    meanwhile, and signals are heard. Raises OSError; ValueError for a size that no relation has."""

def wisconsin_digest(size: int, tuples: int) -> int:
    """The sum of the checksum over the first `tuples` of a 1993 Wisconsin relation of `size`. Raises ValueError."""

def oltp_driver(input: int, output: int) -> int:
    """Serves one request of transactional work, a line of JSON from an open file, and tells what happens line by line
    to another. The GIL is free meanwhile. Ends the process if either file's other end is closed. Returns the exit
    code."""
