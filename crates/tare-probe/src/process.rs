//! One process or thread as a snapshot saw it; the row that every tier ends in.

use std::sync::Arc;

/// `PF_KTHREAD` of the kernel's `task_struct.flags`.
pub(crate) const PF_KTHREAD: u64 = 0x0020_0000;

/// Cumulative counters of one process (all its threads, dead ones too) or of one thread.
///
/// Times are nanoseconds. `None` is what this tier, kernel or user cannot know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The thread's id where this is a thread, else the process's.
    pub pid: i32,
    /// The process's id.
    pub tgid: i32,
    /// The parent process's id.
    pub ppid: i32,
    /// The kernel's name of it, at most 63 bytes.
    pub comm: Arc<str>,
    /// Its arguments joined by spaces; empty for kernel threads.
    pub cmdline: Arc<str>,
    /// Its real user.
    pub uid: Option<u32>,
    /// Since boot, at tick precision.
    pub start_ns: u64,
    /// It is a kernel thread.
    pub kernel: bool,
    /// Live threads of the process.
    pub threads: u32,
    /// The CPU it last ran on, -1 if unknown.
    pub cpu: i32,
    /// Sampled share of the run time in user mode.
    pub user_ns: u64,
    /// Sampled share of the run time in the kernel.
    pub system_ns: u64,
    /// Run time as a virtual machine's CPU (part of user time).
    pub guest_ns: Option<u64>,
    /// The same of children that were waited for.
    pub child_guest_ns: Option<u64>,
    /// Exact run time by the scheduler's clock.
    pub run_ns: Option<u64>,
    /// Time spent runnable without a CPU.
    pub run_queue_ns: Option<u64>,
    /// Times it was given a CPU.
    pub slices: Option<u64>,
    /// Delay accounting's wait for block I/O.
    pub block_io_ns: Option<u64>,
    /// Page faults that needed no I/O.
    pub min_faults: Option<u64>,
    /// Page faults that needed I/O.
    pub maj_faults: Option<u64>,
    /// Switches because it waited.
    pub voluntary_switches: Option<u64>,
    /// Switches because it was preempted.
    pub involuntary_switches: Option<u64>,
    /// read(2) and its kin.
    pub read_calls: Option<u64>,
    /// write(2) and its kin.
    pub write_calls: Option<u64>,
    /// Bytes asked by those reads that were delivered, from cache or not.
    pub read_chars: Option<u64>,
    /// Bytes given to those writes.
    pub write_chars: Option<u64>,
    /// Bytes fetched from storage.
    pub read_bytes: Option<u64>,
    /// Bytes that will have to go to storage.
    pub write_bytes: Option<u64>,
}
