//! A finished run, summed up.

use std::sync::atomic::Ordering;

use super::clock::SECOND;
use super::conduct::Conducted;
use super::control::{Halt, locked};
use super::plan::Plan;
use super::schedule;
use super::stretch::Stretch;
use super::validity::{Cut, Facts, not_judged, reasons};
use super::worker::Shared;
use crate::oltp::told::{Counts, Outcome, Own};

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
    own: Own,
) -> Outcome {
    let mut tally = locked(&stretch.tally);
    let samples = tally.finish_samples();
    if let Some(why) = tally.samples_failed() {
        shared.control.halt(Halt::Short(why.to_owned()));
    }
    let halted = shared.control.halted();
    let (types, all) = tally.told(shared.workload.kinds());
    let length = conducted.cut_after.unwrap_or(plan.length).clamp(1, plan.length);
    let per_second = |count: u64| count as f64 * SECOND as f64 / length as f64;
    let facts = Facts {
        counts: all.counts,
        intended_rate: plan.schedule.as_ref().map(|_| per_second(all.counts.offered)),
        rate: per_second(tally.in_time()),
        length,
        grew: plan.schedule.as_ref().and_then(|_| conducted.backlog.grew(plan.connections)),
        shed_after: plan.shed_after,
        drain: plan.drain,
        abandoned: warm_up.abandoned + conducted.abandoned,
        breaks: locked(&stretch.breaks).of_most(plan.connections as u64, stretch.zero),
        cut: halted.map(|halt| Cut { after: length, length: plan.length, failure: failure(&halt) }),
    };
    Outcome {
        started_ns: stretch.zero,
        took_ns: tally.last_end().map_or(0, |end| end - stretch.zero) as u64,
        intended_rate: facts.intended_rate,
        rate: facts.rate,
        sustained_rate: per_second(tally.successful_in_time()),
        invalid: reasons(&facts),
        not_judged: not_judged(&facts),
        freezes: tally.freezes.found(|at| plan.phases[schedule::phase_at(&plan.phases, at)].rate),
        types,
        all,
        warmup_ns: warm_up.took as u64,
        warmup: warm_up.counts,
        reconnects: shared.reconnects.load(Ordering::Relaxed),
        own,
        mix: shared.mix.percent().to_vec(),
        samples,
    }
}

/// None: it was asked to stop.
fn failure(halt: &Halt) -> Option<String> {
    match halt {
        Halt::Asked => None,
        Halt::Short(why) => Some(why.clone()),
        Halt::Broken(problem) => Some(problem.what.clone()),
    }
}
