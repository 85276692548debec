//! Until when transactions are started, and how late.

use std::sync::atomic::{AtomicI64, Ordering};

use super::clock;
use super::record::End;

/// A sleep is never longer, so that a run that is cut short ends soon.
const NAP: i64 = clock::SECOND / 4;

/// Instants are ns of CLOCK_MONOTONIC.
pub(super) struct Gate {
    closes: i64,
    shed_after: Option<i64>,
    cut: AtomicI64,
}

impl Gate {
    /// Nothing starts at `closes` or after, nor more than `shed_after` late.
    pub(super) fn new(closes: i64, shed_after: Option<i64>) -> Self {
        Self { closes, shed_after, cut: AtomicI64::new(i64::MAX) }
    }

    /// Cut short: what is due at that instant or after is not offered, and nothing starts any more. The first holds.
    pub(super) fn cut(&self, at: i64) {
        let _ = self.cut.compare_exchange(i64::MAX, at, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// When it was cut short. `i64::MAX`: it was not.
    pub(super) fn cut_at(&self) -> i64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// When starts end.
    pub(super) fn shuts(&self) -> i64 {
        self.closes.min(self.cut_at())
    }

    /// Sleeps. False, at once, if starts end before the instant.
    pub(super) fn wait_until(&self, instant: i64) -> bool {
        while instant < self.shuts() {
            let now = clock::now();
            if now >= instant {
                return true;
            }
            clock::sleep_until(instant.min(now + NAP));
        }
        false
    }

    /// Why an arrival that was due then is not sent now. None: it is.
    pub(super) fn refuses(&self, due: i64, now: i64) -> Option<End> {
        if now >= self.shuts() {
            return Some(End::Unstarted);
        }
        self.shed_after.filter(|late| now - due > *late).map(|_| End::Shed)
    }
}
