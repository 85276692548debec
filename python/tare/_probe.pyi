"""What the Linux kernel says of processes and of the machine.

Every counter is cumulative since the process (or the machine) was born and is
kept raw; differences are taken downstream. Times are nanoseconds unless a name
ends in ``_ticks`` (one tick is ``1 / USER_HZ`` seconds). ``monotonic`` means
CLOCK_MONOTONIC, the clock of :func:`time.monotonic_ns`. A counter is ``None``
where this tier, this kernel or this user's rights cannot give it.
"""

import builtins
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, final

TICK_NS: int
"""Nanoseconds in one tick, from sysconf(_SC_CLK_TCK)."""

_ProfileTarget: TypeAlias = tuple[int, str, str | Path, int, int, Sequence[tuple[int, int]]]
"""Number (below 2^28), name, object, address, size and `Function.parts` of a function that may have a probe."""

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

@final
class OsThread:
    """Counts of one thread since it was first seen, ns. on_cpu + run_queue + sleep + block_io + other_wait = present.

    A thread that has ended stays in all further snapshots, with its last counts."""

    node: int  # place in `OsTracer`'s nodes
    tid: int
    tgid: int
    comm: str  # the thread's own name
    title: str  # command line of its process when the thread ended; empty while it lives
    ended: bool
    present_ns: int
    on_cpu_ns: int
    run_queue_ns: int
    sleep_ns: int
    block_io_ns: int
    other_wait_ns: int
    system_ns: int | None  # of on_cpu: in system calls, one in progress too; None below level full
    io_on_cpu_ns: int  # of on_cpu: while a request of the observed was outstanding
    reads: int  # buffered reads
    requested: int  # pages, as the five that follow
    missed: int
    in_flight: int | None  # None below level full
    ahead: int
    mapped: int
    sends: int  # between addresses (IPv4, IPv6), as the three that follow
    sent_bytes: int
    receives: int
    received_bytes: int
    local_sends: int  # Unix sockets, as the three that follow
    local_sent_bytes: int
    local_receives: int
    local_received_bytes: int
    run_ns: int  # the kernel's own counters from here on
    run_delay_ns: int
    read_chars: int
    write_chars: int
    read_calls: int
    write_calls: int
    read_bytes: int
    write_bytes: int
    minor_faults: int
    major_faults: int
    voluntary: int
    involuntary: int

@final
class OsCall:
    """Calls of one kind by one thread that have returned since it was first seen. Times: also of a call in progress."""

    tid: int
    name: str
    count: int
    errors: int
    result: int  # sum of positive results
    on_cpu_ns: int
    run_queue_ns: int
    sleep_ns: int
    block_io_ns: int
    other_wait_ns: int

@final
class OsRequest:
    """A block request that is done."""

    node: int | None  # None: submitted by a thread of the kernel, for whomever
    tid: int
    device: int
    write: bool
    sector: int  # of 512 bytes
    bytes: int
    submitted_ns: int  # monotonic, as the two that follow
    issued_ns: int
    done_ns: int

@final
class OsOutstanding:
    """A block request that was submitted and is not done."""

    node: int | None  # None: submitted by a thread of the kernel
    tid: int
    submitted_ns: int  # monotonic

@final
class OsMessage:
    """A send that returned: one system call on a socket with addresses."""

    at_ns: int  # monotonic, when the call began
    node: int
    tid: int
    sender: str  # address:port
    receiver: str
    bytes: int
    hash: int | None  # of the whole payload; None where it was not read whole
    head: builtins.bytes  # its first eight bytes, or fewer

@final
class OsRead:
    """Pages of a file that a buffered read got at once."""

    at_ns: int  # monotonic, when it had them
    node: int
    tid: int
    device: int  # number of the file's device, as the kernel has it: major << 20 | minor
    inode: int
    page: int  # the first one
    pages: int  # requested; 0 for a further batch of a long read, whose first record has them all
    missed: int  # brought in by the read itself
    in_flight: int  # on their way from a disk

@final
class OsSnapshot:
    at_ns: int  # monotonic
    threads: list[OsThread]
    calls: list[OsCall]
    requests: list[
        OsRequest
    ]  # done since the snapshot before; some were submitted before it, some after `at_ns`
    outstanding: list[OsOutstanding]  # submitted until `at_ns`, and not done
    messages: list[OsMessage]  # since the snapshot before
    reads: list[OsRead]  # since the snapshot before, at level reads
    lost: dict[str, int]  # events that found no room since the start, by part: "threads", "calls", "disk", …

@final
class OsTracer:
    """Counts what processes, their threads and the children they fork ask of the kernel (BPF), until `stop()`.

    `level`: "light", "full", "messages" or "reads"; `nodes`: process ids, node by node. Raises ProbeError where BPF
    does not work or a process is gone; ValueError for another level."""

    absent: dict[str, str]  # why the kernel refuses a part: "cache", "disk", "sockets", "faults"
    def __init__(self, level: str, nodes: Sequence[Sequence[int]]) -> None: ...
    def snapshot(self, patience_s: float = 0.0) -> OsSnapshot:
        """All counts now. Waits at most so long until the requests submitted since the snapshot before are done."""
    def stop(self) -> None: ...

def read_process(pid: int, tid: int | None = None) -> Process:
    """One process (or thread) from /proc alone. Raises ProbeError if it is gone."""

def count_instructions(pids: Sequence[int], with_children: Sequence[int] = ()) -> Instructions:
    """Raises ProbeError where the CPU, the hypervisor or the rights give no counter."""

def delay_accounting() -> bool | None:
    """kernel.task_delayacct; None where the kernel has none."""

def burst(stepped: bool, calls: int) -> int:
    """Nanoseconds that so many calls of `tare_burst_stepped` or `tare_burst_emulated` take: functions of this library
    that do nothing. Probes on the first one are stepped over at both ends, those on the other are emulated."""

def core_share(cpu: int, turns: int) -> list[tuple[int, int]]:
    """CPU time, ns, of a chain of operations that wait for each other and of operations that could go at the same
    time, in so many turns on this CPU, some 2 ms each. Raises ProbeError for a CPU that cannot be used."""

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

def prepare_agent(
    folder: str | Path,
    backend: str,
    program: str | Path,
    targets: Sequence[_ProfileTarget],
    triggers: Sequence[int],
    owner: tuple[int, int] | None,
) -> None:
    """Before `program` starts with the agent's library preloaded: makes the memory that both sides share in `folder`,
    with every function that may ever be watched. `backend`: "agent", "xray" or "annotation"; `triggers`: those of the
    targets at which a process of one thread sees which functions it is to patch by then (the agent alone; without any,
    all are patched from the start); `owner`: user and group that the program will run as, None: ours. Raises ProbeError
    for a program that cannot be watched so."""

@final
class ProfileRecorder:
    """Records what probes in a server see, window by window, into a new file some 20 to 500 times a second.
    What keeps it from recording (a full disk) takes the probes off, and is raised by whatever is called next."""

    name: str  # "attach", "agent", "xray" or "annotation"
    says: str  # what a user should know of the way it watches
    @staticmethod
    def attach(path: str | Path, pids: Sequence[int], follow_children: bool) -> ProfileRecorder:
        """Running processes, by the kernel's probes at the entry of a function and at each place where it leaves.
        Raises ProbeError, also where this build lacks them."""
    @staticmethod
    def agent(path: str | Path, folder: str | Path) -> ProfileRecorder:
        """A server that was started with the agent and this folder of shared memory."""
    @staticmethod
    def xray(path: str | Path, folder: str | Path) -> ProfileRecorder:
        """One that clang built with -fxray-instrument, started so."""
    @staticmethod
    def annotation(path: str | Path, folder: str | Path) -> ProfileRecorder:
        """One whose program marks its transactions itself, started so; no function is watched."""
    def set(
        self,
        targets: Sequence[_ProfileTarget],
        probes: Sequence[tuple[int, str, bool, bool]],
        mode: str,
        purpose: str,
        round: int,
    ) -> list[tuple[int, str]]:
        """Begins a window in which exactly these probes are on. `probes`: function, what its entry tells ("site",
        "word:0", "word:0,text:1", "mark"), whether CPU time is read, whether only entries are recorded; `mode`:
        "timing" or "counting". Returns those that cannot be, and why.
        Raises ProbeError where none can, and others may be tried; ValueError for another mode."""
    def stepped(self, targets: Sequence[_ProfileTarget]) -> list[tuple[int, bool, bool]]:
        """Those of these functions at which the kernel steps over an instruction, at many times the usual price: where
        they are entered, and where they leave."""
    def watching(self) -> dict[str, int]:
        """Functions by the way in which both ends of their calls are watched."""
    def calls(self) -> dict[int, int]:
        """Entries by function in this window so far, in counting mode."""
    def alive(self) -> bool:
        """Whether it records and what it watches still runs."""
    def stop(self) -> None:
        """Takes the probes off and closes the file; safe to repeat. Raises, once, what kept it from recording."""

@final
class ProfileColumns:
    """A table by Arrow's PyCapsule interface; to be read as often as one likes."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Assembled:
    """A recording put together. Times are integer ns and add up exactly: `crates/tare-profile/src/profile.rs`."""

    transactions: ProfileColumns  # window, pid, tid, begin_ns, …, `why`: "valid" or why it does not count
    paths: ProfileColumns  # parent, function, site; the root first, waiting second
    cells: ProfileColumns  # transaction, path, calls, inclusive_ns, own_ns; by transaction, then path
    windows: str  # JSON
    texts: dict[int, str]  # names of the transactions' types, by label
    records: int
    lost: int
    unwound: int  # calls in transactions left without an exit: exception, longjmp, end of the thread
    unrecorded: int  # calls of signal handlers that are in no record
    cut_off: str | None  # where a recording that was not ended stops

def last_calls(path: str | Path, pid: int, tid: int) -> tuple[int, list[int]] | None:
    """Return until when the window of a thread's last record was on (CLOCK_MONOTONIC, ns), and the functions that the
    thread was in at that record, the outermost first."""

def slices(
    path: str | Path,
    stretches: Sequence[tuple[int, int, int, int]],
    keep: Callable[[list[tuple[int, int, int, int, int, int]]], object],
) -> None:
    """Gives the calls of a recording within stretches of threads (pid, tid, begin and end of CLOCK_MONOTONIC, ns) to
    `keep`, some at a time: (pid, tid, function, begin, end, depth). Cut to the stretch; those of a thread nest, callers
    first; depth 0 is outermost.

    Raises ProbeError as `assemble`, and what `keep` raises."""

def assemble(path: str | Path, rules: str) -> Assembled:
    """What a recording comes to; also one that is being written, or was cut off. `rules`: JSON of
    `tare_profile::rules::Rules`. Raises ProbeError for a file that is no recording, ValueError for other rules."""

class Function:
    """A function of an executable or library. Addresses are those of its file (ELF virtual addresses)."""

    address: int
    size: int  # bytes of machine code without its cold parts; 0: unknown
    parts: list[tuple[int, int]]  # address and bytes of each cold part that the compiler moved out of it
    name: str  # its symbol or, where it has none, the name inferred for it; "": neither
    display: str  # `name`, demangled where it is C++ or Rust
    inferred: bool  # `name` was read off its error reports; about one in 25 is that of an inlined function
    aliases: list[str]  # other symbols at its address
    first: str  # instruction: "push", "nop", "endbr", "call", "jump" (no uprobe can be put there), "return", "other"
    no_return: bool  # never returns to its caller, so no exit is ever seen
    indirect_sites: int  # calls in it by pointer, whose callees are learnt at run time
    address_taken: bool  # data or code of its file holds its address: it may be called by pointer
    called_directly: bool  # other code of its file calls it by name
    exported: bool  # other files can link to it, or ask for it by name (dlsym)

@final
class Usdt:
    """A USDT note."""

    provider: str
    name: str
    address: int  # of its nop
    semaphore: int  # address of its counter; 0: none
    arguments: str  # as SystemTap's notes have them: "8@%rax -4@$3"

@final
class Image:
    """What an x86-64 executable or library says of its functions and of who calls whom: symbols, extents, calls by
    disassembly. An address that is not a function's first byte raises ProbeError where a function is asked for."""

    path: str  # absolute
    build_id: str  # hexadecimal; "": none
    preloadable: bool  # a library can be preloaded into it: not so for a static executable
    says: str  # one line: functions, named, inferred, calls, indirect sites
    counts: dict[str, int]
    """extents, cold_parts, symbols, inferred, edges (pairs), sites, own_plt_calls, other_plt_calls, indirect_sites"""

    def __init__(self, path: str | Path) -> None:
        """Raises ProbeError: not there, not ELF, another machine's."""
    @staticmethod
    def of_process(pid: int) -> Image:
        """The file that this process runs, by the kernel's link where its path names another one by now, or none."""
    def check(self, pid: int) -> None:
        """Raises ProbeError unless this process has this very file mapped."""
    def require_names(self) -> None:
        """Raises ProbeError if no function has a name (stripped)."""
    def functions(self) -> list[Function]:
        """By address."""
    def find(self, name: str) -> list[Function]:
        """Those of this name: symbols first, then demangled names (with or without parameters), then names without the
        compiler's suffix (foo for foo.isra.0), then inferred ones. The first kind that has any is the answer, which
        can be several (overloads, static functions). `0x...` finds by address."""
    def near(self, name: str, most: int = 5) -> list[str]:
        """Names to offer for one that is not there, nearest first."""
    def function_at(self, address: int) -> Function | None:
        """The one whose code covers it, cold parts too."""
    def name_at(self, address: int) -> str:
        """As "heap_update+0x1f4"; empty where no function covers it. A return address less 1 is in the call."""
    def calls_by_pointer(self, return_address: int) -> bool:
        """Whether the call that returns to this address is by pointer."""
    def calls(self, return_address: int) -> bool:
        """Whether any call returns to this address."""
    def is_indirect(self, name: str) -> bool:
        """Whether the default version of this name is an indirect function (IFUNC), which has no code of its own."""
    def implementation(self, pid: int, name: str, callers: Sequence[Image]) -> Function | None:
        """The implementation of an indirect function that a process uses, read from the slots of this image and of
        its callers; None: no slot tells. Raises ProbeError where the process cannot be read."""
    def children(self, address: int) -> list[Function]:
        """Functions of this image that it calls, by address; learnt ones too. Last come those of error paths: called
        from cold parts only, or mostly called from there, or never returning."""
    def callees(self, address: int) -> list[tuple[int, str]]:
        """All it calls: (address, name), and (0, symbol) where that is in another library."""
    def callers(self, address: int) -> list[Function]: ...
    def learn(self, caller: int, callee: int) -> bool:
        """A call by pointer that was seen. Any addresses in the two functions will do. Whether that was new."""
    def reachable(self, roots: Sequence[int]) -> list[int]:
        """Addresses of functions, the roots among them."""
    def heights(self, root: int) -> dict[int, int]:
        """Depth of the deepest call chain beneath each function that `root` reaches (the paper's §3.2), recursion
        counted as one level; the root's own is the height of the call graph. Error paths are left out."""
    def largest_cycle(self, root: int) -> list[Function]:
        """The most functions beneath `root` that call each other in a circle; empty: none do."""
    def naive_nodes(self, root: int) -> tuple[float, float]:
        """Nodes of the call tree beneath `root`, and how many of them are leaves: a naive profiler breaks down all the
        others (the paper's §7.6)."""
    def usdt(self) -> list[Usdt]: ...
