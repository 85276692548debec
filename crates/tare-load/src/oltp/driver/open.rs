//! An open loop's arrivals, handed out one by one; and counted as they fall due, by a walk of its own.

use super::schedule::{Arrivals, Schedule};

/// One of the schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) number: u64,
    /// In ns of CLOCK_MONOTONIC.
    pub(super) due: i64,
}

/// What has not been taken yet.
pub(super) struct Untaken {
    arrivals: Arrivals,
    zero: i64,
    number: u64,
    over: bool,
}

impl Untaken {
    pub(super) fn new(schedule: &Schedule, zero: i64) -> Result<Self, String> {
        Ok(Self { arrivals: schedule.walk()?, zero, number: 0, over: false })
    }

    /// The next that is due before an instant.
    pub(super) fn take(&mut self, before: i64) -> Result<Option<Arrival>, String> {
        if self.over {
            return Ok(None);
        }
        self.over = true; // also after an error
        let Some(at) = self.arrivals.next()? else { return Ok(None) };
        let arrival = Arrival { number: self.number, due: self.zero + at };
        self.over = arrival.due >= before;
        self.number += 1;
        Ok((!self.over).then_some(arrival))
    }

    /// Whether all were taken.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }
}

/// How many are due by an instant.
pub(super) struct DueCount {
    arrivals: Arrivals,
    zero: i64,
    next: Option<i64>,
    count: u64,
}

impl DueCount {
    pub(super) fn new(schedule: &Schedule, zero: i64) -> Result<Self, String> {
        let mut arrivals = schedule.walk()?;
        let next = arrivals.next()?;
        Ok(Self { arrivals, zero, next, count: 0 })
    }

    /// Due before an instant, which never falls from call to call.
    pub(super) fn before(&mut self, instant: i64) -> Result<u64, String> {
        while self.next.is_some_and(|at| self.zero + at < instant) {
            self.count += 1;
            self.next = self.arrivals.next()?;
        }
        Ok(self.count)
    }
}
