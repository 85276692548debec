//! What happened to all arrivals of a stretch: counts and distributions by type, seconds, samples.

use super::distribution::Recorder;
use super::record::Record;
use super::sample::Samples;
use super::seconds::Seconds;
use super::stalls::Stalls;
use crate::oltp::Kind;
use crate::oltp::counts::Counts;
use crate::oltp::events::TypeResult;

/// Fed with records, each once, in any order.
pub(super) struct Tally {
    types: Vec<Type>,
    closed: bool,
    pub(super) seconds: Seconds,
    pub(super) stalls: Stalls,
    samples: Option<Samples>,
    end_of_schedule: i64,
    in_time: u64,
    completed_in_time: u64,
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
        zero: i64,
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
        Self {
            types,
            closed,
            seconds,
            stalls: Stalls::new(zero),
            samples: None,
            end_of_schedule,
            in_time: 0,
            completed_in_time: 0,
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
        let tally = &mut self.types[usize::from(record.kind)];
        tally.counts.offered += 1;
        *record.end.count(&mut tally.counts) += 1;
        record.retried.add_to(&mut tally.counts);
        if record.end.is_unsent() {
            return;
        }
        tally.counts.started += 1;
        let in_time = u64::from(record.started < self.end_of_schedule);
        self.in_time += in_time;
        self.last_end = self.last_end.max(record.ended);
        if record.end.is_good() {
            self.completed_in_time += in_time;
            self.stalls.end(record.ended, record.intended);
            tally.response.record((record.ended - record.intended) as u64);
            tally.service.record((record.ended - record.started) as u64);
            if !self.closed {
                tally.lag.record((record.started - record.intended) as u64);
            }
        }
    }

    /// Started before the schedule's end.
    pub(super) fn in_time(&self) -> u64 {
        self.in_time
    }

    /// Of these, ended as the workload's specification has it.
    pub(super) fn completed_in_time(&self) -> u64 {
        self.completed_in_time
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
        self.types.iter().fold(Counts::default(), |sum, kind| sum + kind.counts)
    }

    /// The results of each type, and of all together.
    pub(super) fn results(&self, kinds: &[Kind]) -> (Vec<TypeResult>, TypeResult) {
        let types: Vec<_> =
            kinds.iter().zip(&self.types).map(|(kind, tally)| tally.result(kind.name)).collect();
        let none = Recorder::new(types.first().map_or(1.0, |kind| kind.response.norm)).distribution();
        let (response, service, lag) = (none.clone(), none.clone(), none);
        let all = TypeResult { name: "all".to_owned(), counts: Counts::default(), response, service, lag };
        let all = types.iter().fold(all, |all, kind| TypeResult {
            name: all.name,
            counts: all.counts + kind.counts,
            response: all.response.merged(&kind.response),
            service: all.service.merged(&kind.service),
            lag: all.lag.merged(&kind.lag),
        });
        (types, all)
    }
}

impl Type {
    fn result(&self, name: &str) -> TypeResult {
        TypeResult {
            name: name.to_owned(),
            counts: self.counts,
            response: self.response.distribution(),
            service: self.service.distribution(),
            lag: self.lag.distribution(),
        }
    }
}
