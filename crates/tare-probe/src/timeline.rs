//! Where one thread's time went while it was followed.

/// What a thread does, as the scheduler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// On a CPU.
    OnCpu,
    /// Runnable without one.
    RunQueue,
    /// Waiting interruptibly.
    Sleep,
    /// Waiting uninterruptibly, in_iowait.
    BlockIo,
    /// Waiting uninterruptibly for something else; stopped; traced; dead.
    OtherWait,
}

impl State {
    /// Its name.
    pub fn name(self) -> &'static str {
        ["on_cpu", "run_queue", "sleep", "block_io", "other_wait"][self as usize]
    }
}

/// One thread from when it was first followed up to `as_of_ns`; the five times add up to the difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The thread.
    pub tid: i32,
    /// CLOCK_MONOTONIC.
    pub followed_ns: u64,
    /// CLOCK_MONOTONIC; the thread's end if it has ended.
    pub as_of_ns: u64,
    /// Time in each `State`, in its order.
    pub spent_ns: [u64; 5],
    /// Of its time on a CPU, what the hypervisor took.
    pub stolen_ns: u64,
    /// Of its time on a CPU, what interrupts took.
    pub interrupted_ns: u64,
    /// When it came to where it is; CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// Times the trace saw it given a CPU.
    pub switch_ins: u64,
    /// Times the scheduler counted.
    pub slices: u64,
    /// It has not ended.
    pub alive: bool,
    /// The trace missed nothing: both counts agree.
    pub trusted: bool,
    /// Where it was at `as_of_ns`.
    pub state: State,
}

/// What every way of following threads owes.
pub(crate) trait Follow: Send {
    /// Each thread's timeline up to now.
    fn read(&mut self) -> crate::Result<Vec<Timeline>>;
}
