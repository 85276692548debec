//! One arrival and what became of it.

use crate::oltp::Trouble;
use crate::oltp::told::Counts;

/// How an arrival ended. The numbers stand in the samples' file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// As asked.
    Committed = 0,
    /// As the workload's specification has it.
    RolledBack = 1,
    /// Gave up after the last try, by the last try's trouble.
    Deadlock = 2,
    /// See `Deadlock`.
    Serialization = 3,
    /// See `Deadlock`.
    LockTimeout = 4,
    /// Whether it committed is not known.
    Lost = 5,
    /// Any other error.
    Error = 6,
    /// Not sent, for being too late.
    Shed = 7,
    /// Not sent by the end of the drain.
    Unstarted = 8,
}

impl End {
    /// As the workload's specification has it: its times count.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Committed | Self::RolledBack)
    }

    /// Whether it was never sent.
    pub fn is_unsent(self) -> bool {
        matches!(self, Self::Shed | Self::Unstarted)
    }

    /// Where it is counted.
    pub(super) fn count(self, counts: &mut Counts) -> &mut u64 {
        match self {
            Self::Committed => &mut counts.committed,
            Self::RolledBack => &mut counts.rolled_back,
            Self::Deadlock => &mut counts.deadlocks,
            Self::Serialization => &mut counts.serialization_failures,
            Self::LockTimeout => &mut counts.lock_timeouts,
            Self::Lost => &mut counts.lost,
            Self::Error => &mut counts.errors,
            Self::Shed => &mut counts.shed,
            Self::Unstarted => &mut counts.unstarted,
        }
    }
}

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Deadlock => Self::Deadlock,
            Trouble::Serialization => Self::Serialization,
            Trouble::LockTimeout => Self::LockTimeout,
            Trouble::Lost => Self::Lost,
            Trouble::Duplicate | Trouble::Full | Trouble::Error => Self::Error,
        }
    }
}

/// Tries beyond the first, by what made them necessary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retried {
    /// By the trouble of the same name.
    pub deadlock: u8,
    /// By the trouble of the same name.
    pub serialization: u8,
    /// By the trouble of the same name.
    pub lock_timeout: u8,
}

impl Retried {
    pub(super) fn after(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Deadlock => self.deadlock += 1,
            Trouble::Serialization => self.serialization += 1,
            _ => self.lock_timeout += 1,
        }
    }

    pub(super) fn add_to(self, counts: &mut Counts) {
        counts.retried_deadlock += u64::from(self.deadlock);
        counts.retried_serialization += u64::from(self.serialization);
        counts.retried_lock_timeout += u64::from(self.lock_timeout);
    }
}

/// Instants are ns of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its type's number.
    pub kind: u16,
    /// What became of it.
    pub end: End,
    /// How often it was sent.
    pub tries: u8,
    /// Of these, all but the first.
    pub retried: Retried,
    /// Its start was counted while it was running.
    pub(super) seen: bool,
    /// Who sent it; `u32::MAX`: nobody.
    pub connection: u32,
    /// Its place in the schedule, from 0; in a closed loop its place among its connection's.
    pub arrival: u64,
    /// When it was due; in a closed loop, when it started.
    pub intended: i64,
    /// 0: never.
    pub started: i64,
    /// Of one that was never sent: when that was settled.
    pub ended: i64,
}

/// Of one in the samples' file.
pub const RECORD_BYTES: usize = 40;
