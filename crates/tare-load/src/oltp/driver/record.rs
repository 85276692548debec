//! One arrival and what became of it.

use crate::oltp::Trouble;
pub use crate::oltp::counts::{End, Retried};

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Deadlock => Self::Deadlock,
            Trouble::Serialization => Self::SerializationFailure,
            Trouble::LockTimeout => Self::LockTimeout,
            Trouble::Lost => Self::Lost,
            Trouble::Duplicate | Trouble::Full | Trouble::Error => Self::Error,
        }
    }
}

impl Retried {
    pub(super) fn after(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Deadlock => self.deadlock += 1,
            Trouble::Serialization => self.serialization += 1,
            _ => self.lock_timeout += 1,
        }
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
