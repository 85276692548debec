//! What the kernel's programs hand over, one at a time, in the order in which it happened.

/// A request as the kernel knows it while it lives.
pub type Address = u64;

/// What a thread does after an event; `Ended` is for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Runs.
    OnCpu,
    /// Could run.
    RunQueue,
    /// Waits interruptibly.
    Sleep,
    /// Waits uninterruptibly, in_iowait.
    BlockIo,
    /// Waits uninterruptibly for something else.
    OtherWait,
    /// Will never run again.
    Ended,
}

/// A thread and its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who {
    /// The thread; 0 is the idle thread of any CPU.
    pub tid: i32,
    /// Its process.
    pub tgid: i32,
    /// It belongs to a traced process.
    pub traced: bool,
}

/// One event. Times are CLOCK_MONOTONIC, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: u64,
    /// On which CPU; for `Look`, where the thread was last.
    pub cpu: u32,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A CPU goes from one thread to the next.
    Switch {
        /// Who leaves.
        from: Who,
        /// And to what.
        after: After,
        /// Who comes.
        to: Who,
        /// How often `to` was given a CPU before, by the kernel's count.
        slices: u32,
        /// What the hypervisor took from this CPU so far, ns.
        stolen: u64,
    },
    /// A thread has come to its CPU, and the switch was not traced.
    Arrive {
        /// It.
        who: Who,
        /// How often it was given a CPU, this time included.
        slices: u32,
        /// As in `Switch`.
        stolen: u64,
    },
    /// A thread is woken.
    Wake(Who),
    /// A thread is born.
    Fork(Who),
    /// A thread was looked at.
    Look {
        /// It.
        who: Who,
        /// What it does.
        state: After,
        /// How often it was given a CPU, by the kernel's count.
        slices: u32,
    },
    /// A thread asks for a block request.
    Submit(Request),
    /// A request is given to its device.
    Issue(Request),
    /// A device is done with a request.
    Done(Request),
    /// A request becomes part of another one.
    Merge(Request),
}

/// A block request, and who runs where the event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Its address, which is used again after it is done.
    pub address: Address,
    /// Who runs.
    pub by: Who,
    /// `by` is a thread of the kernel.
    pub kernel: bool,
    /// Its size.
    pub bytes: u32,
    /// What is asked for, as in blk_types.h: 0 read, 1 write, 2 flush, 3 discard.
    pub operation: u8,
}
