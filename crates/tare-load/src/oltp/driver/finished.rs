//! A finished run, summed up.

use std::sync::atomic::Ordering;

use super::clock::SECOND;
use super::conduct::Conducted;
use super::control::{Halt, locked};
use super::plan::Plan;
use super::stretch::Stretch;
use super::validity::{Facts, reasons};
use super::worker::Shared;
use crate::oltp::counts::Counts;
use crate::oltp::events::{DriverCost, Outcome};

/// What came before the measured part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WarmUp {
    pub(super) took: i64,
    pub(super) counts: Counts,
    /// Transactions that did not end in time; their connections may be missing from the measured part.
    pub(super) abandoned: usize,
}

pub(super) fn outcome(
    plan: &Plan,
    shared: &Shared,
    stretch: &Stretch,
    conducted: Conducted,
    warm_up: WarmUp,
    own: DriverCost,
) -> Outcome {
    let mut tally = locked(&stretch.tally);
    let samples = tally.finish_samples();
    if let Some(why) = tally.samples_failed() {
        shared.control.halt(Halt::Short(why.to_owned()));
    }
    let halted = shared.control.halted();
    let (types, all) = tally.results(shared.workload.kinds());
    let length = conducted.cut_after.unwrap_or(plan.length).clamp(1, plan.length);
    let per_second = |count: u64| count as f64 * SECOND as f64 / length as f64;
    let facts = Facts {
        counts: all.counts,
        intended_rate: plan.schedule.as_ref().map(|_| per_second(all.counts.offered)),
        started_rate: per_second(tally.in_time()),
        grew: plan.schedule.as_ref().and_then(|_| conducted.backlog.grew(plan.connections)),
        shed_after: plan.shed_after,
        drain: plan.drain,
        abandoned: warm_up.abandoned + conducted.abandoned,
        absence: locked(&stretch.outage).absence(plan.connections),
        zero: stretch.zero,
        cut: halted.map(|halt| (length, plan.length, why(&halt))),
    };
    Outcome {
        started_ns: stretch.zero,
        took_ns: tally.last_end().map_or(0, |end| end - stretch.zero) as u64,
        intended_rate: facts.intended_rate,
        rate: per_second(tally.completed_in_time()),
        invalid: reasons(&facts),
        types,
        all,
        warmup_ns: warm_up.took as u64,
        warmup: warm_up.counts,
        reconnects: shared.reconnects.load(Ordering::Relaxed),
        own,
        mix: shared.mix.percent().to_vec(),
        samples,
        stalls: conducted.stalls,
        round_trips: stretch.round_trips.load(Ordering::Relaxed),
    }
}

fn why(halt: &Halt) -> String {
    match halt {
        Halt::Asked => "it was asked to stop".to_owned(),
        Halt::Short(why) => why.clone(),
        Halt::Broken(problem) => problem.what.clone(),
    }
}
