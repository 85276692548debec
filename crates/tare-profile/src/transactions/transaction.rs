//! A transaction, or an interval of one, while records of it come.

use std::ops::Range;

use super::labels::Candidate;
use super::paths::Paths;
use super::stack::{Owner, Stack};
use super::sums::Sums;
use crate::profile::{Cell, Path, Transaction, Why};

/// Put together, but for its place among the others.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) transaction: Transaction,
    pub(super) named: Candidate,
    /// Of the cells so far.
    pub(super) cells: Range<usize>,
}

/// Open: it runs, or waits between two intervals.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) owner: Owner,
    pub(super) named: Candidate,
    pub(super) why: Why,
    /// An annotation's interval that begins its transaction.
    pub(super) begun: bool,
    /// The call site of its root.
    pub(super) site: u32,
    window: u32,
    begin: u64,
    since: Option<u64>,
    /// Of its last interval.
    end: u64,
    service: u64,
    waited: u64,
    intervals: u32,
    /// The thread's CPU time at its beginning, if that was read.
    cpu_before: Option<u64>,
}

impl Open {
    /// With its first interval.
    pub(super) fn begin(owner: Owner, window: u32, now: u64, stack: &mut Stack, sums: &mut Sums) -> Self {
        let mut open = Self {
            owner,
            named: Candidate::default(),
            why: Why::Valid,
            begun: false,
            site: 0,
            window,
            begin: now,
            since: None,
            end: now,
            service: 0,
            waited: 0,
            intervals: 0,
            cpu_before: None,
        };
        open.resume(now, stack, sums);
        open
    }

    pub(super) fn running(&self) -> bool {
        self.since.is_some()
    }

    pub(super) fn resume(&mut self, now: u64, stack: &mut Stack, sums: &mut Sums) {
        if self.since.is_none() {
            self.waited += now - self.end;
            self.since = Some(now);
            self.intervals += 1;
            sums.call(Paths::ROOT, 1);
            stack.begin(self.owner, now);
        }
    }

    pub(super) fn pause(&mut self, now: u64, stack: &mut Stack, sums: &mut Sums) {
        if self.since.take().is_some() {
            self.service += stack.end(now, sums);
            self.end = now;
        }
    }

    /// A reading at its beginning.
    pub(super) fn cpu_began(&mut self, cpu: u64) {
        self.cpu_before = Some(cpu);
    }

    /// That reading, for the one at its end; `None` too where it waits, as the end was told too late.
    pub(super) fn cpu_before(&self) -> Option<u64> {
        self.cpu_before.filter(|_| self.running())
    }

    pub(super) fn speaks_against(&mut self, why: Why) {
        if self.why == Why::Valid {
            self.why = why;
        }
    }

    /// The end of a transaction that does not run, seen or not. `place` numbers it among those that are put together.
    pub(super) fn close(
        self,
        id: (i32, i32),
        place: usize,
        ended: bool,
        sums: &mut Sums,
        cells: &mut Vec<Cell>,
    ) -> Raw {
        debug_assert!(!self.running());
        if self.intervals > 1 {
            sums.call(Path::WAITING, self.intervals - 1);
            sums.time(Path::WAITING, self.waited, self.waited);
            sums.time(Paths::ROOT, self.waited, 0);
        }
        let first = cells.len();
        sums.flush(place as u32, cells);
        let transaction = Transaction {
            duration_ns: self.end - self.begin,
            service_ns: self.service,
            waited_ns: self.waited,
            intervals: self.intervals,
            label: self.named.label,
            ended,
            why: self.why,
            ..Transaction::at(self.begin, self.window, id)
        };
        Raw { transaction, named: self.named, cells: first..cells.len() }
    }
}
