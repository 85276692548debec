//! A run's request, checked, and the schedules that follow from it.

use super::clock;
use super::schedule::{self, Schedule};
use super::streams::{MEASURED, WARM_UP};
use crate::oltp::database::Problem;
use crate::oltp::request::{Arrivals, Phase, Request, Run};

/// What will be done.
#[derive(Debug)]
pub(super) struct Plan {
    /// None: a closed loop.
    pub(super) schedule: Option<Schedule>,
    /// See `schedule`.
    pub(super) warm_up: Option<Schedule>,
    pub(super) phases: Vec<Phase>,
    /// In ns.
    pub(super) length: i64,
    pub(super) warm_up_length: i64,
    pub(super) drain: i64,
    pub(super) shed_after: Option<i64>,
    pub(super) connections: usize,
    pub(super) tries: u8,
}

impl Plan {
    /// Reads a trace from its start to its end, so that nothing is found out in the middle of a run.
    pub(super) fn new(request: &Request, run: &Run) -> Result<Self, Problem> {
        check(request, run)?;
        let of = |phases: &[Phase], stream| scheduled(&run.arrivals, phases, request.seed, stream);
        let schedule = of(&run.phases, MEASURED);
        let rate = match (&run.arrivals, &schedule) {
            (Arrivals::Trace { .. }, Some(trace)) => Some(mean_rate(trace)?),
            _ => run.phases[0].rate,
        };
        let first = [Phase { rate, duration_s: run.warmup_s }];
        let warm_up = match &run.arrivals {
            Arrivals::Trace { .. } => Some(Schedule::even(&first)),
            _ => of(&first, WARM_UP),
        };
        Ok(Self {
            schedule,
            warm_up,
            phases: run.phases.clone(),
            length: schedule::length(&run.phases),
            warm_up_length: clock::ns(run.warmup_s),
            drain: clock::ns(run.drain_s),
            shed_after: run.shed_after_s.map(clock::ns),
            connections: run.connections,
            tries: run.tries as u8,
        })
    }
}

fn scheduled(arrivals: &Arrivals, phases: &[Phase], seed: u64, stream: &[u64]) -> Option<Schedule> {
    match arrivals {
        Arrivals::Closed => None,
        Arrivals::Constant => Some(Schedule::even(phases)),
        Arrivals::Poisson => Some(Schedule::poisson(phases, seed, stream)),
        Arrivals::Trace { file } => Some(Schedule::trace(file.clone(), phases)),
    }
}

/// A trace has no rate of its own to warm up at.
fn mean_rate(trace: &Schedule) -> Result<f64, Problem> {
    let mend = |what| Problem::usage(what, "a line for each arrival: seconds from the start, rising");
    let mut walk = trace.walk().map_err(mend)?;
    let mut count = 0_u64;
    while walk.next().map_err(mend)?.is_some() {
        count += 1;
    }
    if count == 0 {
        return Err(mend("the trace has no arrival within the run's duration".to_owned()));
    }
    Ok(count as f64 / (trace.length() as f64 / clock::SECOND as f64))
}

fn check(request: &Request, run: &Run) -> Result<(), Problem> {
    let rated = matches!(run.arrivals, Arrivals::Constant | Arrivals::Poisson);
    let positive = |number: f64| number.is_finite() && number > 0.0;
    let natural = |number: f64| number.is_finite() && number >= 0.0;
    let demands = [
        ((1..=10_000).contains(&run.connections), "connections", "from 1 to 10000"),
        (!run.phases.is_empty(), "phases", "at least one"),
        (run.phases.iter().all(|phase| positive(phase.duration_s)), "a phase's duration", "above 0 s"),
        (
            !rated || run.phases.iter().all(|phase| phase.rate.is_some_and(positive)),
            "a phase's rate",
            "above 0/s",
        ),
        (
            rated || run.phases.iter().all(|phase| phase.rate.is_none()),
            "a phase's rate",
            "none: these arrivals have no rate to set",
        ),
        (natural(run.warmup_s), "warm-up", "0 s or more"),
        (natural(run.drain_s), "drain", "0 s or more"),
        (run.shed_after_s.is_none_or(natural), "shed after", "0 s or more"),
        ((1..=255).contains(&run.tries), "tries", "from 1 to 255"),
        (natural(run.think), "think", "0 or more"),
        (positive(run.norm), "norm", "a p above 0"),
        (positive(request.connect_timeout_s), "connect timeout", "above 0 s"),
    ];
    match demands.iter().find(|(met, ..)| !met) {
        Some((_, what, wanted)) => {
            Err(Problem::usage(format!("the run's {what} cannot be as asked"), format!("give {wanted}")))
        }
        None => Ok(()),
    }
}
