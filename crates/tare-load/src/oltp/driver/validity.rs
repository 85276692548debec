//! Why a run is not valid, and what it is too short to show.

use super::clock::SECOND;
use crate::oltp::told::Counts;
use crate::oltp::verdict::{Invalid, NotJudged};

/// Of the intended rate.
const MISSED: f64 = 0.01;
/// The longest delay of a driver on a busy machine, in ns. Whatever is late by no more says nothing of the server.
const DELAY: i64 = SECOND / 4;
/// Fewer arrivals than this cannot show a difference of 1%: two of them may be late by chance.
const FEWEST: u64 = 200;
/// Of what was offered: a load whose transactions do not succeed is not the workload's.
const UNSUCCESSFUL: f64 = 0.01;

/// What a run is judged by.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) counts: Counts,
    /// None: a closed loop has none to miss.
    pub(super) intended_rate: Option<f64>,
    pub(super) rate: f64,
    /// Length of the schedule, or of the part of it that was run.
    pub(super) length: i64,
    /// The least backlog of the schedule's third quarter and of its last, if it grew.
    pub(super) grew: Option<(u64, u64)>,
    pub(super) shed_after: Option<i64>,
    pub(super) drain: i64,
    pub(super) abandoned: usize,
    /// See `Breaks::of_most`.
    pub(super) breaks: Vec<Invalid>,
    pub(super) cut: Option<Cut>,
}

/// The run ended before its schedule.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) after: i64,
    pub(super) length: i64,
    /// What failed. None: it was asked to stop.
    pub(super) failure: Option<String>,
}

/// Empty: it is valid. What makes the others likely comes first.
pub(super) fn reasons(facts: &Facts) -> Vec<Invalid> {
    let reasons =
        [unsuccessful(facts), missed(facts), grew(facts), shed(facts), unstarted(facts), abandoned(facts)];
    let cut = cut(facts);
    cut.into_iter().chain(facts.breaks.iter().cloned()).chain(reasons.into_iter().flatten()).collect()
}

fn cut(facts: &Facts) -> Option<Invalid> {
    let Cut { after, length, failure } = facts.cut.clone()?;
    Some(Invalid::CutShort { after_ns: after, length_ns: length, failure })
}

/// What the run is too short to tell, so that it is neither valid nor invalid. Empty: everything was judged.
pub(super) fn not_judged(facts: &Facts) -> Vec<NotJudged> {
    if facts.cut.is_some() {
        return Vec::new(); // not valid anyway
    }
    [rate_not_judged(facts), backlog_not_judged(facts)].into_iter().flatten().collect()
}

/// By how much the started rate differs from the intended one, and by how much more than 1% one delay may make it
/// differ. Both as shares of the intended rate.
fn off(facts: &Facts) -> Option<(f64, f64)> {
    let intended = facts.intended_rate.filter(|rate| *rate > 0.0)?;
    let two = 2.0 / facts.counts.offered.max(1) as f64;
    Some(((facts.rate / intended - 1.0).abs(), (DELAY as f64 / facts.length as f64).max(two)))
}

fn missed(facts: &Facts) -> Option<Invalid> {
    let (rate, intended_rate) = (facts.rate, facts.intended_rate?);
    let (off, delay) = off(facts)?;
    (off > MISSED + delay).then_some(Invalid::RateMissed { rate, intended_rate })
}

fn rate_not_judged(facts: &Facts) -> Option<NotJudged> {
    let (off, delay) = off(facts)?;
    let offered = facts.counts.offered;
    if off > MISSED + delay {
        None // it missed it
    } else if off > MISSED {
        let late = (off * offered as f64).round() as u64;
        Some(NotJudged::RateLate { late, offered, delay_ns: DELAY, length_ns: facts.length })
    } else {
        (offered < FEWEST).then_some(NotJudged::RateTooFew { offered })
    }
}

/// Whether a delay may last for a quarter of the schedule.
fn quarters_are_short(facts: &Facts) -> bool {
    facts.length / 4 < DELAY
}

fn grew(facts: &Facts) -> Option<Invalid> {
    let (third, last) = facts.grew.filter(|_| !quarters_are_short(facts))?;
    Some(Invalid::BacklogGrew { third, last })
}

fn backlog_not_judged(facts: &Facts) -> Option<NotJudged> {
    facts.grew.filter(|_| quarters_are_short(facts))?;
    Some(NotJudged::Backlog { delay_ns: DELAY, length_ns: facts.length })
}

fn shed(facts: &Facts) -> Option<Invalid> {
    let (count, offered) = (facts.counts.shed, facts.counts.offered);
    (count > 0).then(|| Invalid::Shed { count, offered, late_ns: facts.shed_after.unwrap_or(0) })
}

fn unstarted(facts: &Facts) -> Option<Invalid> {
    let (count, offered) = (facts.counts.unstarted, facts.counts.offered);
    let drain_ns = facts.cut.is_none().then_some(facts.drain);
    (count > 0).then_some(Invalid::Unstarted { count, offered, drain_ns })
}

fn abandoned(facts: &Facts) -> Option<Invalid> {
    let count = facts.abandoned as u64;
    (count > 0).then_some(Invalid::Abandoned { count })
}

fn unsuccessful(facts: &Facts) -> Option<Invalid> {
    let Counts { offered, deadlocks, serialization_failures, lock_timeouts, lost, errors, .. } = facts.counts;
    let count = deadlocks + serialization_failures + lock_timeouts + lost + errors;
    (count as f64 > UNSUCCESSFUL * offered as f64).then_some(Invalid::Unsuccessful {
        offered,
        deadlocks,
        serialization_failures,
        lock_timeouts,
        lost,
        errors,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let counts = Counts { offered: 1000, started: 1000, committed: 1000, ..Counts::default() };
        Facts { counts, intended_rate: Some(50.0), rate: 49.6, length: 20 * SECOND, ..Facts::default() }
    }

    fn counted(change: impl FnOnce(&mut Counts)) -> Facts {
        let mut facts = facts();
        change(&mut facts.counts);
        facts
    }

    #[test]
    fn less_than_one_percent_off_is_valid() {
        assert!(reasons(&facts()).is_empty());
    }

    #[test]
    fn each_reason_has_its_figures() {
        let broke = Invalid::ConnectionsBroke { at_ns: 2 * SECOND, broken: 4, connections: 4, back_ns: None };
        let shed_after = Some(SECOND / 2);
        for (facts, reason) in [
            (Facts { rate: 48.8, ..facts() }, Invalid::RateMissed { rate: 48.8, intended_rate: 50.0 }),
            (Facts { grew: Some((150, 225)), ..facts() }, Invalid::BacklogGrew { third: 150, last: 225 }),
            (
                Facts { shed_after, ..counted(|counts| counts.shed = 7) },
                Invalid::Shed { count: 7, offered: 1000, late_ns: SECOND / 2 },
            ),
            (
                Facts { drain: 30 * SECOND, ..counted(|counts| counts.unstarted = 8) },
                Invalid::Unstarted { count: 8, offered: 1000, drain_ns: Some(30 * SECOND) },
            ),
            (Facts { abandoned: 3, ..facts() }, Invalid::Abandoned { count: 3 }),
            (Facts { breaks: vec![broke.clone()], ..facts() }, broke),
        ] {
            assert_eq!(reasons(&facts), [reason]);
        }
    }

    #[test]
    fn more_than_one_in_a_hundred_without_success_is_no_valid_run_whatever_kept_them_from_it() {
        let every: [fn(&mut Counts) -> &mut u64; 5] = [
            |counts| &mut counts.deadlocks,
            |counts| &mut counts.serialization_failures,
            |counts| &mut counts.lock_timeouts,
            |counts| &mut counts.lost,
            |counts| &mut counts.errors,
        ];
        for of in every {
            assert!(reasons(&counted(|counts| *of(counts) = 10)).is_empty());
            let eleven = counted(|counts| *of(counts) = 11);
            assert!(matches!(reasons(&eleven)[..], [Invalid::Unsuccessful { .. }]));
            assert!(!reasons(&Facts { intended_rate: None, ..eleven }).is_empty(), "also in a closed loop");
        }
        let together = counted(|counts| every.iter().for_each(|of| *of(counts) = 3));
        let of_each = Invalid::Unsuccessful {
            offered: 1000,
            deadlocks: 3,
            serialization_failures: 3,
            lock_timeouts: 3,
            lost: 3,
            errors: 3,
        };
        assert_eq!(reasons(&together), [of_each]);
        let retried = counted(|counts| counts.retried_deadlock = 400);
        assert!(reasons(&retried).is_empty(), "what succeeds at last is a success");
    }

    fn of(offered: u64, late: u64, length: i64) -> Facts {
        let per_second = |count: u64| count as f64 * SECOND as f64 / length as f64;
        let counts = Counts { offered, started: offered, committed: offered, ..Counts::default() };
        let (intended_rate, rate) = (Some(per_second(offered)), per_second(offered - late));
        Facts { counts, intended_rate, rate, length, ..Facts::default() }
    }

    fn only_not_judged(facts: &Facts) -> NotJudged {
        assert!(reasons(facts).is_empty(), "{:?}", reasons(facts));
        let found = not_judged(facts);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn a_run_that_is_long_enough_is_valid_or_not() {
        for (late, is_valid) in [(0, true), (29, true), (60, false)] {
            let facts = of(3000, late, 60 * SECOND);
            assert_eq!(reasons(&facts).is_empty(), is_valid);
            assert!(not_judged(&facts).is_empty());
        }
    }

    #[test]
    fn a_run_of_few_transactions_is_neither_valid_nor_invalid() {
        let few = only_not_judged(&of(25, 0, SECOND / 2));
        assert_eq!(few, NotJudged::RateTooFew { offered: 25 });
        // The last one was due 10 ms before the end, and was started 10 ms late.
        let late = only_not_judged(&of(50, 1, SECOND));
        assert_eq!(
            late,
            NotJudged::RateLate { late: 1, offered: 50, delay_ns: SECOND / 4, length_ns: SECOND }
        );
    }

    #[test]
    fn a_short_run_that_falls_far_behind_is_invalid() {
        assert_eq!(reasons(&of(50, 25, SECOND)), [Invalid::RateMissed { rate: 25.0, intended_rate: 50.0 }]);
        assert!(not_judged(&of(50, 25, SECOND)).is_empty());
        assert!(!reasons(&of(100_000, 80_000, SECOND)).is_empty());
    }

    #[test]
    fn a_backlog_in_quarters_that_one_delay_fills_is_not_judged() {
        let short = Facts { grew: Some((0, 12)), ..of(400, 0, SECOND / 2) };
        assert_eq!(
            only_not_judged(&short),
            NotJudged::Backlog { delay_ns: SECOND / 4, length_ns: SECOND / 2 }
        );
        let long = Facts { grew: Some((0, 12)), ..of(400, 0, SECOND) };
        assert_eq!(reasons(&long), [Invalid::BacklogGrew { third: 0, last: 12 }]);
    }

    #[test]
    fn a_run_that_was_cut_short_is_invalid_and_has_nothing_to_judge() {
        let cut = Some(Cut { after: SECOND, length: 60 * SECOND, failure: None });
        let facts = Facts { cut, ..of(25, 0, SECOND) };
        assert!(not_judged(&facts).is_empty());
        let reason = Invalid::CutShort { after_ns: SECOND, length_ns: 60 * SECOND, failure: None };
        assert_eq!(reasons(&facts), [reason]);
    }

    #[test]
    fn a_closed_loop_has_no_rate_to_miss() {
        let closed = Facts { intended_rate: None, rate: 3.0, ..of(20, 0, SECOND) };
        assert!(reasons(&closed).is_empty() && not_judged(&closed).is_empty());
    }
}
