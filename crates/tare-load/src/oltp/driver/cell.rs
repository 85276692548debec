//! A worker's own notes: what it is at, and what it has finished since the last look.

use super::record::{End, Record, Retried};

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
    /// A second that is told has counted its start.
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
