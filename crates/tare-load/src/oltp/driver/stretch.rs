//! A stretch of a run (its warm-up or its measured part), what its workers share, and which one is played.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::clock;
use super::control::locked;
use super::gate::Gate;
use super::open::{Arrival, Untaken};
use super::outage::Outage;
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
    pub(super) outage: Mutex<Outage>,
    /// Of all transactions together.
    pub(super) round_trips: AtomicU64,
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
            outage: Mutex::default(),
            round_trips: AtomicU64::new(0),
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
    /// When the oldest of what they are at was due, and how many they are at.
    pub(super) fn collect(&self) -> (Option<i64>, u64) {
        let mut tally = locked(&self.tally);
        let (mut oldest, mut running) = (None, 0);
        for cell in &self.cells {
            let mut cell = locked(cell);
            cell.finished.drain(..).for_each(|record| tally.add(&record));
            let Some(current) = cell.current.as_mut() else { continue };
            if !current.seen {
                tally.seconds.start(current.started);
                current.seen = true;
            }
            oldest = Some(oldest.map_or(current.intended, |oldest: i64| oldest.min(current.intended)));
            running += 1;
        }
        (oldest, running)
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

// A worker's notes: what it is at, and what it has finished since the last look ------------------------------
/// A worker that fills it between two looks brings its records to the tally itself.
pub(super) const ROOM: usize = 1024;

/// In the DBMS now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    pub(super) kind: u16,
    pub(super) connection: u32,
    pub(super) arrival: u64,
    pub(super) intended: i64,
    pub(super) started: i64,
    /// A reported second has counted its start.
    pub(super) seen: bool,
}

/// Behind a lock that only its worker and, a few times a second, the collector take.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) current: Option<Current>,
    pub(super) finished: Vec<Record>,
    /// Its transaction took longer than anyone waits: it was counted, and what it still brings is too late.
    pub(super) abandoned: bool,
}

impl Current {
    /// Its record.
    pub(super) fn ended(&self, end: End, tries: u8, retried: Retried, ended: i64) -> Record {
        let Self { kind, connection, arrival, intended, started, seen } = *self;
        Record { kind, end, tries, retried, seen, connection, arrival, intended, started, ended }
    }
}

// The stage: the conductor sets which stretch is played, workers wait for it --------------------------------
/// Stretches are numbered from 1.
#[derive(Default)]
pub(super) struct Stage {
    playing: Mutex<Playing>,
    changed: Condvar,
}

#[derive(Default)]
struct Playing {
    number: usize,
    stretch: Option<Arc<Stretch>>,
    over: bool,
}

impl Stage {
    /// The next one begins.
    pub(super) fn play(&self, stretch: Arc<Stretch>) {
        let mut playing = locked(&self.playing);
        playing.number += 1;
        playing.stretch = Some(stretch);
        self.changed.notify_all();
    }

    /// There are no more.
    pub(super) fn end(&self) {
        locked(&self.playing).over = true;
        self.changed.notify_all();
    }

    /// Waits for one after this. None: there are no more.
    pub(super) fn after(&self, number: usize) -> Option<(usize, Arc<Stretch>)> {
        let waiting = |playing: &mut Playing| !playing.over && playing.number <= number;
        let playing = self.changed.wait_while(locked(&self.playing), waiting);
        let playing = playing.unwrap_or_else(PoisonError::into_inner);
        let stretch = playing.stretch.clone().filter(|_| !playing.over)?;
        Some((playing.number, stretch))
    }
}
