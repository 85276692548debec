//! System calls, waits, page cache, block requests and messages of chosen processes, as sums in the kernel.

/// Name of what a node's processes are found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A process, with its threads and the children that it forks from now on.
    Process(u32),
    /// All processes of a network namespace, by its inode number.
    Namespace(u32),
}

/// A node and one of its scopes. Node numbers start with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Number of the node.
    pub node: u32,
    /// How its processes are found.
    pub scope: Scope,
}

/// How much is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// No system calls: every other program of the machine keeps its fast path into the kernel.
    Light,
    /// System calls, too.
    Full,
    /// And every message that a socket of IPv4 or IPv6 sends, with a hash of its payload.
    Messages,
}

/// Number of a call that stands for time outside calls.
pub const NO_CALL: u32 = 0xffff;

/// Calls of one system call by one process, and the time that its threads spent in it, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSum {
    /// Number of the node.
    pub node: u32,
    /// Process id.
    pub tgid: u32,
    /// Number of the system call, or `NO_CALL`.
    pub call: u32,
    /// Calls that returned.
    pub count: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Sum of what they returned: bytes, for calls that return a length.
    pub bytes: u64,
    /// On a CPU, runnable, asleep, waiting for block I/O, waiting otherwise.
    pub spent_ns: [u64; 5],
}

/// Names of `ProcessSum::counts`, in the order of `struct process_sum`.
pub const COUNTS: [&str; 25] = [
    "faults_user",
    "faults_kernel",
    "reads_ready",
    "reads_in_flight",
    "reads_missed",
    "pages_requested",
    "pages_in_flight",
    "pages_missed",
    "pages_added",
    "pages_mapped",
    "pages_written",
    "block_reads",
    "block_read_bytes",
    "block_read_sequential",
    "block_writes",
    "block_write_bytes",
    "block_latency_ns",
    "sends",
    "sent_bytes",
    "receives",
    "received_bytes",
    "local_sends",
    "local_sent_bytes",
    "local_receives",
    "local_received_bytes",
];

/// Counts of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSum {
    /// Number of the node.
    pub node: u32,
    /// Process id.
    pub tgid: u32,
    /// In the order of `COUNTS`.
    pub counts: [u64; COUNTS.len()],
}

/// A process of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Number of the node.
    pub node: u32,
    /// Process id.
    pub tgid: u32,
    /// Name of the program, cut at 15 bytes.
    pub name: String,
    /// Its command line when it ended; empty while it runs, and where system calls are not traced.
    pub title: String,
}

/// Names of histograms, in the order of `HISTOGRAMS`.
pub const HISTOGRAMS: [&str; 7] = [
    "read_bytes",
    "read_gap_ns",
    "block_read_bytes",
    "block_write_bytes",
    "block_latency_ns",
    "send_bytes",
    "send_gap_ns",
];

/// Values of one process by the number of their bits: slot `n` counts values from 2^(n-1) to 2^n - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Number of the node.
    pub node: u32,
    /// Process id.
    pub tgid: u32,
    /// Index in `HISTOGRAMS`.
    pub kind: u32,
    /// Counts of values.
    pub slots: Vec<u64>,
}

/// For how long a block request of the node was open, and the CPU time that its threads used in that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Number of the node.
    pub node: u32,
    /// Time in which a request was open.
    pub io_ns: u64,
    /// CPU time of its threads in that time.
    pub busy_ns: u64,
}

/// Names of what found no room, in the order of `LOST_KINDS`.
pub const LOST: [&str; 4] = ["messages", "sums", "threads", "requests"];

/// Runs of one of the tracer's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramRuns {
    /// Name of the program.
    pub name: &'static str,
    /// Runs; 0 where the kernel does not count them.
    pub count: u64,
    /// Time of these runs, ns.
    pub ns: u64,
    /// How often the kernel passed over it because it was at work on that CPU already.
    pub passed_over: u64,
}

/// All sums since the start, up to one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// System calls, and time outside them.
    pub calls: Vec<CallSum>,
    /// Counts of each process.
    pub sums: Vec<ProcessSum>,
    /// All processes met so far.
    pub processes: Vec<Process>,
    /// Sizes, gaps and latencies.
    pub histograms: Vec<Histogram>,
    /// Block I/O of each node.
    pub activities: Vec<Activity>,
    /// In the order of `LOST`.
    pub lost: [u64; LOST.len()],
    /// What the tracing itself took.
    pub programs: Vec<ProgramRuns>,
}

/// Size of a message in `OsTracer::messages`, bytes.
pub const MESSAGE_BYTES: usize = 56;
