//! What is told of each second: a bin for what happens in it, open until it is over and a moment longer.

use std::collections::VecDeque;

use super::clock::SECOND;
use super::record::Record;
use crate::oltp::told::{Counts, Quick, Second};

/// Bins by second from a stretch's start. What comes to be known too late for its bin goes into the next, so that the
/// sum of all seconds is the whole.
pub(super) struct Seconds {
    zero: i64,
    /// The last of a warm-up lasts until its backlog is drained.
    last: Option<i64>,
    next: i64,
    bins: VecDeque<Bin>,
    offered: u64,
    started: u64,
    done: u64,
    unsent: u64,
}

#[derive(Default)]
struct Bin {
    counts: Counts,
    response: Vec<u64>,
    service: Vec<u64>,
}

/// What a closing second takes from elsewhere.
pub(super) struct Closing {
    /// Due since the start; None: closed loop, where what is started is offered.
    pub(super) offered: Option<u64>,
    pub(super) phase: usize,
    pub(super) own_cpu_ns: u64,
    /// What is added to its number.
    pub(super) shift: i64,
}

impl Seconds {
    pub(super) fn new(zero: i64, last: Option<i64>) -> Self {
        Self { zero, last, next: 0, bins: VecDeque::new(), offered: 0, started: 0, done: 0, unsent: 0 }
    }

    /// When the first begins.
    pub(super) fn zero(&self) -> i64 {
        self.zero
    }

    /// Transactions in the DBMS now, as far as they are known.
    pub(super) fn running(&self) -> u64 {
        self.started.saturating_sub(self.done)
    }

    /// The number of the one to be closed next.
    pub(super) fn next(&self) -> i64 {
        self.next
    }

    /// When it ends. None: with the stretch.
    pub(super) fn next_end(&self) -> Option<i64> {
        (self.last != Some(self.next)).then_some(self.zero + (self.next + 1) * SECOND)
    }

    /// Whether something happened that no closed second tells.
    pub(super) fn is_open(&self) -> bool {
        !self.bins.is_empty()
    }

    pub(super) fn add(&mut self, record: &Record) {
        if record.end.is_unsent() {
            self.unsent += 1;
        } else {
            self.done += 1;
            if !record.seen {
                self.start(record.started);
            }
        }
        let bin = self.bin(record.ended);
        *record.end.count(&mut bin.counts) += 1;
        record.retried.add_to(&mut bin.counts);
        if record.end.is_good() {
            bin.response.push((record.ended - record.intended) as u64);
            bin.service.push((record.ended - record.started) as u64);
        }
    }

    /// One was started; it need not have ended.
    pub(super) fn start(&mut self, at: i64) {
        self.started += 1;
        self.bin(at).counts.started += 1;
    }

    /// Not yet in the DBMS, and never to be, of so many that were due.
    pub(super) fn backlog(&self, offered: u64) -> u64 {
        offered.saturating_sub(self.started + self.unsent)
    }

    /// The next is over.
    pub(super) fn close(&mut self, closing: &Closing) -> Second {
        let mut bin = self.bins.pop_front().unwrap_or_default();
        let later: u64 = self.bins.iter().map(|bin| bin.counts.started).sum();
        let later_done: u64 = self.bins.iter().map(|bin| ended(&bin.counts) - unsent(&bin.counts)).sum();
        let later_unsent: u64 = self.bins.iter().map(|bin| unsent(&bin.counts)).sum();
        let offered = closing.offered.unwrap_or(self.started - later);
        bin.counts.offered = offered - self.offered;
        self.offered = offered;
        let started = self.started - later;
        let number = self.next + closing.shift;
        self.next += 1;
        Second {
            number,
            phase: closing.phase,
            counts: bin.counts,
            backlog: offered.saturating_sub(started + self.unsent - later_unsent),
            running: started.saturating_sub(self.done - later_done),
            response: quick(bin.response),
            service: quick(bin.service),
            own_cpu_ns: closing.own_cpu_ns,
        }
    }

    fn bin(&mut self, at: i64) -> &mut Bin {
        let second = (at - self.zero).div_euclid(SECOND);
        let second = second.min(self.last.unwrap_or(i64::MAX)).max(self.next);
        let place = (second - self.next) as usize;
        while self.bins.len() <= place {
            self.bins.push_back(Bin::default());
        }
        &mut self.bins[place]
    }
}

fn unsent(counts: &Counts) -> u64 {
    counts.shed + counts.unstarted
}

/// Those that came to an end of any kind.
pub(super) fn ended(counts: &Counts) -> u64 {
    let given_up = counts.deadlocks + counts.serialization_failures + counts.lock_timeouts;
    counts.committed + counts.rolled_back + given_up + counts.lost + counts.errors + unsent(counts)
}

fn quick(mut values: Vec<u64>) -> Option<Quick> {
    values.sort_unstable();
    let max = *values.last()?;
    let at = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1];
    let mean = values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64;
    Some(Quick { mean, p50: at(50), p95: at(95), p99: at(99), max })
}
