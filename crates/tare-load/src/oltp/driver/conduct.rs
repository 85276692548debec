//! The conductor of a stretch: looks at the workers ten times a second, tells each second, and sees its end.

use super::backlog::Backlog;
use super::clock::{self, SECOND};
use super::control::{Control, Halt, locked};
use super::open::DueCount;
use super::record::End;
use super::schedule;
use super::seconds::Closing;
use super::stretch::Stretch;
use super::worker::Shared;
use crate::oltp::database::Tell;
use crate::oltp::request::Phase;
use crate::oltp::told::Told;

const LOOK: i64 = SECOND / 10;
/// For transactions that are still running when starts have ended; a lock is waited for up to ten seconds, perhaps by
/// several statements.
const PATIENCE: i64 = 60 * SECOND;
/// The same for a run that was asked to stop.
const STOPPED_PATIENCE: i64 = 10 * SECOND;

/// Of one stretch.
pub(super) struct Conductor<'a> {
    pub(super) shared: &'a Shared,
    pub(super) control: &'a Control,
    pub(super) stretch: &'a Stretch,
    pub(super) phases: &'a [Phase],
    /// From zero to the schedule's end.
    pub(super) length: i64,
    /// None: a closed loop.
    pub(super) due: Option<DueCount>,
    /// Added to a second's number.
    pub(super) shift: i64,
    pub(super) tell: &'a Tell<'a>,
    pub(super) cpu: i64,
    pub(super) backlog: Backlog,
}

/// How a stretch ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conducted {
    /// When it was cut short, from its start. None: it was not.
    pub(super) cut_after: Option<i64>,
    /// Transactions that did not end in time.
    pub(super) abandoned: usize,
    pub(super) backlog: Backlog,
}

impl Conductor<'_> {
    /// To its end.
    pub(super) fn conduct(mut self) -> Conducted {
        let mut abandoned = 0;
        loop {
            let left = self.stretch.is_left(self.next_look());
            let now = self.look();
            if left && self.is_over(now) {
                break;
            }
            if now >= self.stretch.gate.shuts() + self.patience() {
                abandoned = self.stretch.abandon();
                break;
            }
            clock::sleep_until(if left { self.next_look() } else { now });
        }
        let cut = self.stretch.gate.cut_at();
        self.stretch.gate.cut(clock::now()); // lets go of those that still try to connect
        self.stretch.collect();
        self.close_all(cut);
        self.tell_troubles();
        let cut_after = (cut < i64::MAX).then(|| (cut - self.stretch.zero).max(0));
        Conducted { cut_after, abandoned, backlog: self.backlog }
    }

    fn next_look(&self) -> i64 {
        let second = locked(&self.stretch.tally).seconds.next_end();
        (clock::now() + LOOK).min(second.unwrap_or(i64::MAX))
    }

    fn look(&mut self) -> i64 {
        if self.control.halted().is_some() {
            self.stretch.gate.cut(clock::now());
        }
        self.stretch.collect();
        let now = clock::now();
        if now >= self.stretch.gate.shuts() {
            self.leave_out_the_rest();
        }
        while let Some(end) = self.next_end().filter(|end| *end <= now) {
            self.close(end);
        }
        self.see_waiting(now);
        self.tell_troubles();
        let failed = locked(&self.stretch.tally).samples_failed().map(str::to_owned);
        failed.into_iter().for_each(|why| self.control.halt(Halt::Short(why)));
        now
    }

    fn is_over(&self, now: i64) -> bool {
        let end = (self.stretch.zero + self.length).min(self.stretch.gate.cut_at());
        now >= end && self.stretch.is_taken()
    }

    fn patience(&self) -> i64 {
        if self.stretch.gate.cut_at() < i64::MAX { STOPPED_PATIENCE } else { PATIENCE }
    }

    /// Workers do so too, but all may be waiting for the server.
    fn leave_out_the_rest(&self) {
        while let Some(arrival) = self.ok(self.stretch.take()).flatten() {
            let (_, kind) = self.shared.arrival(self.stretch, arrival);
            self.stretch.leave_out(arrival, kind, End::Unstarted);
        }
    }

    fn see_waiting(&mut self, now: i64) {
        let offered = self.due_before(now);
        let mut tally = locked(&self.stretch.tally);
        let backlog = offered.map(|offered| tally.seconds.backlog(offered));
        let running = tally.seconds.running();
        let all_busy = running >= self.stretch.cells.len() as u64;
        tally.freezes.look(now, backlog.unwrap_or(0) + running, all_busy);
        drop(tally);
        if let Some(backlog) = backlog {
            self.backlog.see(now - self.stretch.zero, self.length, backlog);
        }
    }

    // Seconds ----------------------------------------------------------------------------------------------
    fn next_end(&self) -> Option<i64> {
        locked(&self.stretch.tally).seconds.next_end()
    }

    /// All that the schedule has, up to where it was cut short, and all in which something happened.
    fn close_all(&mut self, cut: i64) {
        let end = (self.stretch.zero + self.length).min(cut);
        loop {
            let tally = locked(&self.stretch.tally);
            let begins = self.stretch.zero + tally.seconds.next() * SECOND;
            if begins >= end && !tally.seconds.is_open() {
                return;
            }
            let ends = tally.seconds.next_end();
            drop(tally);
            self.close(ends.unwrap_or(i64::MAX));
        }
    }

    fn close(&mut self, end: i64) {
        let offered = self.due_before(end);
        let cpu = clock::process_cpu();
        let mut tally = locked(&self.stretch.tally);
        let at = tally.seconds.next() * SECOND;
        let second = tally.seconds.close(&Closing {
            offered,
            phase: schedule::phase_at(self.phases, at),
            own_cpu_ns: (cpu - self.cpu).max(0) as u64,
            shift: self.shift,
        });
        drop(tally);
        self.cpu = cpu;
        (self.tell)(Told::Second(second));
    }

    fn due_before(&mut self, instant: i64) -> Option<u64> {
        let instant = instant.min(self.stretch.gate.cut_at());
        let due = self.due.as_mut().map(|due| due.before(instant));
        due.and_then(|due| self.ok(due))
    }

    fn tell_troubles(&self) {
        let troubles = locked(&self.stretch.troubles).take();
        for (at, text) in troubles {
            let at_ns = at - self.stretch.zero + self.shift * SECOND;
            (self.tell)(Told::Trouble { at_ns, text });
        }
    }

    fn ok<T>(&self, result: Result<T, String>) -> Option<T> {
        result.map_err(|why| self.control.halt(Halt::Short(why))).ok()
    }
}
