//! The warm-up, or the measured part: what its workers share.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::breaks::Breaks;
use super::cell::{Cell, Current, ROOM};
use super::clock;
use super::control::locked;
use super::gate::Gate;
use super::open::{Arrival, Untaken};
use super::record::{End, Record, Retried};
use super::tally::Tally;
use super::troubles::Troubles;

/// One after the other; a worker that is late from the one before brings its records there.
pub(super) struct Stretch {
    /// When it begins, ns of CLOCK_MONOTONIC.
    pub(super) zero: i64,
    /// Above the paths of all that is drawn in it.
    pub(super) stream: &'static [u64],
    pub(super) gate: Gate,
    /// None: a closed loop.
    pub(super) untaken: Option<Mutex<Untaken>>,
    pub(super) troubles: Mutex<Troubles>,
    pub(super) breaks: Mutex<Breaks>,
    /// Locked before a cell, where both are.
    pub(super) tally: Mutex<Tally>,
    pub(super) cells: Vec<Mutex<Cell>>,
    /// How many workers may be at a transaction or about to take one.
    inside: Mutex<usize>,
    changed: Condvar,
}

impl Stretch {
    pub(super) fn new(
        zero: i64,
        stream: &'static [u64],
        gate: Gate,
        untaken: Option<Untaken>,
        tally: Tally,
        workers: usize,
    ) -> Self {
        Self {
            zero,
            stream,
            gate,
            untaken: untaken.map(Mutex::new),
            troubles: Mutex::default(),
            breaks: Mutex::default(),
            tally: Mutex::new(tally),
            cells: (0..workers).map(|_| Mutex::default()).collect(),
            inside: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// The next arrival of an open loop. None: there are no more.
    pub(super) fn take(&self) -> Result<Option<Arrival>, String> {
        match &self.untaken {
            Some(untaken) => locked(untaken).take(self.gate.cut_at()),
            None => Ok(None),
        }
    }

    /// Whether all of an open loop's arrivals were taken; there are none in a closed one.
    pub(super) fn is_taken(&self) -> bool {
        self.untaken.as_ref().is_none_or(|untaken| locked(untaken).is_over())
    }

    /// A worker is sending.
    pub(super) fn begin(&self, current: Current) {
        locked(&self.cells[current.connection as usize]).current = Some(current);
    }

    /// It has come to an end.
    pub(super) fn end(&self, connection: u32, settle: impl FnOnce(&Current) -> Record) {
        let mut cell = locked(&self.cells[connection as usize]);
        let Some(current) = cell.current.take() else { return };
        if cell.abandoned {
            return;
        }
        cell.finished.push(settle(&current));
        let full = cell.finished.len() >= ROOM;
        drop(cell);
        if full {
            let mut tally = locked(&self.tally);
            let mut cell = locked(&self.cells[connection as usize]);
            cell.finished.drain(..).for_each(|record| tally.add(&record));
        }
    }

    /// An arrival is never sent.
    pub(super) fn leave_out(&self, arrival: Arrival, kind: usize, end: End) {
        locked(&self.tally).add(&Record {
            kind: kind as u16,
            end,
            tries: 0,
            retried: Retried::default(),
            seen: false,
            connection: u32::MAX,
            arrival: arrival.number,
            intended: arrival.due,
            started: 0,
            ended: clock::now(),
        });
    }

    /// Whatever workers have finished since the last look is tallied; what they are at is counted as started.
    pub(super) fn collect(&self) {
        let mut tally = locked(&self.tally);
        for cell in &self.cells {
            let mut cell = locked(cell);
            cell.finished.drain(..).for_each(|record| tally.add(&record));
            if let Some(current) = cell.current.as_mut().filter(|current| !current.seen) {
                tally.seconds.start(current.started);
                current.seen = true;
            }
        }
    }

    /// Waits no longer for what is still running: what comes of it is not known. How many there were.
    pub(super) fn abandon(&self) -> usize {
        let (mut tally, now) = (locked(&self.tally), clock::now());
        let mut abandoned = 0;
        for cell in &self.cells {
            let mut cell = locked(cell);
            cell.abandoned = true;
            if let Some(current) = cell.current.take() {
                tally.add(&current.ended(End::Lost, 1, Retried::default(), now));
                abandoned += 1;
            }
        }
        abandoned
    }

    pub(super) fn note(&self, text: &str) {
        locked(&self.troubles).note(clock::now(), text);
    }

    /// A worker may take an arrival from now on.
    pub(super) fn enter(&self) {
        *locked(&self.inside) += 1;
    }

    /// It will take none, until it enters again.
    pub(super) fn leave(&self) {
        *locked(&self.inside) -= 1;
        self.changed.notify_all();
    }

    /// Whether no worker is inside, at the latest at the instant.
    pub(super) fn is_left(&self, by: i64) -> bool {
        let inside = locked(&self.inside);
        let wait = Duration::from_nanos((by - clock::now()).max(0) as u64);
        let outcome = self.changed.wait_timeout_while(inside, wait, |inside| *inside > 0);
        outcome.is_ok_and(|(inside, _)| *inside == 0)
    }
}
