//! What happened to all arrivals of a stretch: counts and distributions by type, seconds, samples.

use super::distribution::Recorder;
use super::freezes::Freezes;
use super::record::Record;
use super::sample::Samples;
use super::seconds::Seconds;
use crate::oltp::Kind;
use crate::oltp::told::{Counts, OfType};

/// Fed with records, each once, in any order.
pub(super) struct Tally {
    types: Vec<Type>,
    closed: bool,
    pub(super) seconds: Seconds,
    pub(super) freezes: Freezes,
    samples: Option<Samples>,
    end_of_schedule: i64,
    in_time: u64,
    successful_in_time: u64,
    last_end: i64,
}

struct Type {
    counts: Counts,
    response: Recorder,
    service: Recorder,
    lag: Recorder,
}

impl Tally {
    /// Of a closed loop or an open one, whose schedule ends at an instant.
    pub(super) fn new(
        kinds: &[Kind],
        norm: f64,
        closed: bool,
        seconds: Seconds,
        end_of_schedule: i64,
    ) -> Self {
        let recorder = || Recorder::new(norm);
        let empty = |_: &Kind| Type {
            counts: Counts::default(),
            response: recorder(),
            service: recorder(),
            lag: recorder(),
        };
        let types = kinds.iter().map(empty).collect();
        let freezes = Freezes::new(seconds.zero());
        Self {
            types,
            closed,
            seconds,
            freezes,
            samples: None,
            end_of_schedule,
            in_time: 0,
            successful_in_time: 0,
            last_end: 0,
        }
    }

    /// From now on every record is kept.
    pub(super) fn keep(&mut self, samples: Samples) {
        self.samples = Some(samples);
    }

    /// Not to be seen again.
    pub(super) fn add(&mut self, record: &Record) {
        self.seconds.add(record);
        if let Some(samples) = &mut self.samples {
            samples.add(record);
        }
        let of = &mut self.types[usize::from(record.kind)];
        of.counts.offered += 1;
        *record.end.count(&mut of.counts) += 1;
        record.retried.add_to(&mut of.counts);
        if record.end.is_unsent() {
            return;
        }
        of.counts.started += 1;
        self.freezes.end(record.ended);
        let is_in_time = record.started < self.end_of_schedule;
        self.in_time += u64::from(is_in_time);
        self.successful_in_time += u64::from(is_in_time && record.end.is_good());
        self.last_end = self.last_end.max(record.ended);
        if record.end.is_good() {
            of.response.record((record.ended - record.intended) as u64);
            of.service.record((record.ended - record.started) as u64);
            if !self.closed {
                of.lag.record((record.started - record.intended) as u64);
            }
        }
    }

    /// Started before the schedule's end.
    pub(super) fn in_time(&self) -> u64 {
        self.in_time
    }

    /// Of these, committed or rolled back as the workload specifies.
    pub(super) fn successful_in_time(&self) -> u64 {
        self.successful_in_time
    }

    /// When the last transaction ended. None: there was none.
    pub(super) fn last_end(&self) -> Option<i64> {
        (self.last_end > 0).then_some(self.last_end)
    }

    /// Why samples are no longer written. None: they are, or none are asked for.
    pub(super) fn samples_failed(&self) -> Option<&str> {
        self.samples.as_ref()?.failed()
    }

    /// How many are in the file. Now whole.
    pub(super) fn finish_samples(&mut self) -> u64 {
        self.samples.as_mut().map_or(0, Samples::finish)
    }

    /// Of all types.
    pub(super) fn counts(&self) -> Counts {
        self.types.iter().fold(Counts::default(), |sum, of| added(sum, of.counts))
    }

    /// By type, and of all together.
    pub(super) fn told(&self, kinds: &[Kind]) -> (Vec<OfType>, OfType) {
        let types: Vec<OfType> = kinds.iter().zip(&self.types).map(|(kind, of)| of.told(kind.name)).collect();
        let none = Recorder::new(types.first().map_or(1.0, |of| of.response.norm)).told();
        let (response, service, lag) = (none.clone(), none.clone(), none);
        let all = OfType { name: "all".to_owned(), counts: Counts::default(), response, service, lag };
        let all = types.iter().fold(all, |all, of| OfType {
            name: all.name,
            counts: added(all.counts, of.counts),
            response: all.response.merged(&of.response),
            service: all.service.merged(&of.service),
            lag: all.lag.merged(&of.lag),
        });
        (types, all)
    }
}

impl Type {
    fn told(&self, name: &str) -> OfType {
        OfType {
            name: name.to_owned(),
            counts: self.counts,
            response: self.response.told(),
            service: self.service.told(),
            lag: self.lag.told(),
        }
    }
}

fn added(a: Counts, b: Counts) -> Counts {
    Counts {
        offered: a.offered + b.offered,
        started: a.started + b.started,
        committed: a.committed + b.committed,
        rolled_back: a.rolled_back + b.rolled_back,
        deadlocks: a.deadlocks + b.deadlocks,
        serialization_failures: a.serialization_failures + b.serialization_failures,
        lock_timeouts: a.lock_timeouts + b.lock_timeouts,
        lost: a.lost + b.lost,
        errors: a.errors + b.errors,
        shed: a.shed + b.shed,
        unstarted: a.unstarted + b.unstarted,
        retried_deadlock: a.retried_deadlock + b.retried_deadlock,
        retried_serialization: a.retried_serialization + b.retried_serialization,
        retried_lock_timeout: a.retried_lock_timeout + b.retried_lock_timeout,
    }
}
