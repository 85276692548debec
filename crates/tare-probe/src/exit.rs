//! The last reading of a task that ended, whichever way it was caught.

use crate::process::Process;

/// One thread that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The thread's own totals.
    pub process: Process,
    /// Its whole process ended with it.
    pub last_of_group: bool,
    /// CLOCK_MONOTONIC, as the kernel saw it or, for taskstats, on receipt.
    pub ended_ns: u64,
    /// As wait(2) encodes it.
    pub exit_code: i32,
}

/// What every way of listening for exits owes.
pub(crate) trait Listen: Send {
    /// All records of tasks that had ended before the call and were not handed out yet.
    fn drain(&mut self) -> crate::Result<Vec<Exit>>;
    /// Records known to be lost since the start.
    fn lost(&self) -> u64;
    /// Tasks born since the start, if counted.
    fn births(&self) -> Option<u64>;
}
