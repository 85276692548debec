//! Why a run is not valid, and what it is too short to tell: each reason a sentence with its figure.

use super::clock::SECOND;
use crate::oltp::told::Counts;

/// Of the intended rate.
const MISSED: f64 = 0.01;
/// The longest delay of a driver on a busy machine, in seconds. Whatever is late by no more says nothing of the server.
const DELAY_S: f64 = 0.25;
/// Fewer arrivals than this cannot show a difference of 1%: two of them may be late by chance.
const FEWEST: u64 = 200;
/// Of what was offered: a load whose transactions are refused is not the workload's.
const ERRORS: f64 = 0.01;

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
    /// After how long, of how long, and why.
    pub(super) cut: Option<(i64, i64, String)>,
}

/// Empty: it is valid.
pub(super) fn reasons(facts: &Facts) -> Vec<String> {
    let reasons = [
        cut(facts),
        missed(facts),
        grew(facts),
        shed(facts),
        unstarted(facts),
        abandoned(facts),
        errors(facts),
    ];
    reasons.into_iter().flatten().collect()
}

fn cut(facts: &Facts) -> Option<String> {
    let (after, length, why) = facts.cut.as_ref()?;
    Some(format!("it was cut short after {:.1} s of {:.1} s: {why}", seconds(*after), seconds(*length)))
}

/// What the run is too short to tell, so that it is neither valid nor invalid. Empty: everything was judged.
pub(super) fn not_judged(facts: &Facts) -> Vec<String> {
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
    Some(((facts.rate / intended - 1.0).abs(), (DELAY_S / seconds(facts.length)).max(two)))
}

fn missed(facts: &Facts) -> Option<String> {
    let (rate, intended) = (facts.rate, facts.intended_rate?);
    let (off, delay) = off(facts)?;
    (off > MISSED + delay).then(|| {
        let percent = 100.0 * (rate / intended - 1.0);
        format!("it missed its rate: {rate:.2}/s were started of {intended:.2}/s intended ({percent:+.1}%)")
    })
}

fn rate_not_judged(facts: &Facts) -> Option<String> {
    let (off, delay) = off(facts)?;
    let (offered, length) = (facts.counts.offered, seconds(facts.length));
    if off > MISSED + delay {
        None // it missed it
    } else if off > MISSED {
        let late = (off * offered as f64).round();
        Some(format!(
            "its rate was not judged: {late} of {offered} transactions were started after the schedule's end, which a \
             delay of {DELAY_S} s explains in a run of {length:.1} s"
        ))
    } else {
        (offered < FEWEST).then(|| {
            format!("its rate was not judged: {offered} transactions are too few to show a difference of 1%")
        })
    }
}

/// Whether a delay may last for a quarter of the schedule.
fn quarters_are_short(facts: &Facts) -> bool {
    seconds(facts.length) / 4.0 < DELAY_S
}

fn grew(facts: &Facts) -> Option<String> {
    let (third, last) = facts.grew.filter(|_| !quarters_are_short(facts))?;
    Some(format!(
        "its backlog grew: at least {third} transactions were due and not started all through its third quarter, \
         at least {last} all through its last"
    ))
}

fn backlog_not_judged(facts: &Facts) -> Option<String> {
    facts.grew.filter(|_| quarters_are_short(facts))?;
    Some(format!(
        "its backlog was not judged: it grew in the last quarter, which a delay of {DELAY_S} s explains in a run of \
         {:.1} s",
        seconds(facts.length)
    ))
}

fn shed(facts: &Facts) -> Option<String> {
    let (shed, offered) = (facts.counts.shed, facts.counts.offered);
    let late = seconds(facts.shed_after.unwrap_or(0));
    (shed > 0).then(|| format!("{shed} of {offered} transactions were shed, being more than {late} s late"))
}

fn unstarted(facts: &Facts) -> Option<String> {
    let (unstarted, offered) = (facts.counts.unstarted, facts.counts.offered);
    let when = match facts.cut {
        Some(_) => "before it was cut short".to_owned(),
        None => format!("within {} s after the last was due", seconds(facts.drain)),
    };
    (unstarted > 0).then(|| format!("{unstarted} of {offered} transactions were never started {when}"))
}

fn abandoned(facts: &Facts) -> Option<String> {
    let count = facts.abandoned;
    (count > 0).then(|| {
        format!("{count} transactions did not end while the driver waited; they are counted as lost")
    })
}

fn errors(facts: &Facts) -> Option<String> {
    let (errors, offered) = (facts.counts.errors, facts.counts.offered);
    (errors as f64 > ERRORS * offered as f64).then(|| {
        format!(
            "{errors} of {offered} transactions ended in an error of the DBMS ({:.1}%)",
            100.0 * errors as f64 / offered as f64
        )
    })
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let counts = Counts { offered: 1000, started: 1000, committed: 1000, ..Counts::default() };
        Facts { counts, intended_rate: Some(50.0), rate: 49.6, length: 20 * SECOND, ..Facts::default() }
    }

    fn only(facts: &Facts) -> String {
        let reasons = reasons(facts);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        reasons[0].clone()
    }

    #[test]
    fn less_than_one_percent_off_is_valid() {
        assert!(reasons(&facts()).is_empty());
    }

    #[test]
    fn each_reason_says_its_figure() {
        assert!(
            only(&Facts { rate: 48.8, ..facts() })
                .contains("48.80/s were started of 50.00/s intended (-2.4%)")
        );
        assert!(only(&Facts { grew: Some((150, 225)), ..facts() }).contains("at least 225"));
        let cut = Some((12_300_000_000, 60_000_000_000, "it was stopped".to_owned()));
        assert!(only(&Facts { cut, ..facts() }).contains("after 12.3 s of 60.0 s: it was stopped"));
        let shed = Counts { shed: 7, ..facts().counts };
        assert!(
            only(&Facts { counts: shed, shed_after: Some(SECOND / 2), ..facts() })
                .contains("7 of 1000 transactions were shed, being more than 0.5 s late")
        );
        let unstarted = Counts { unstarted: 8, ..facts().counts };
        assert!(
            only(&Facts { counts: unstarted, drain: 30 * SECOND, ..facts() })
                .contains("8 of 1000 transactions were never started within 30 s")
        );
        assert!(only(&Facts { abandoned: 3, ..facts() }).contains("3 transactions did not end"));
        let errors = Counts { errors: 38, ..facts().counts };
        assert!(
            only(&Facts { counts: errors, ..facts() })
                .contains("38 of 1000 transactions ended in an error of the DBMS (3.8%)")
        );
    }

    fn of(offered: u64, late: u64, length: i64) -> Facts {
        let per_second = |count: u64| count as f64 / seconds(length);
        let counts = Counts { offered, started: offered, committed: offered, ..Counts::default() };
        let (intended_rate, rate) = (Some(per_second(offered)), per_second(offered - late));
        Facts { counts, intended_rate, rate, length, ..Facts::default() }
    }

    fn only_not_judged(facts: &Facts) -> String {
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
        assert_eq!(few, "its rate was not judged: 25 transactions are too few to show a difference of 1%");
        // The last one was due 10 ms before the end, and was started 10 ms late.
        let late = only_not_judged(&of(50, 1, SECOND));
        assert!(late.contains("1 of 50 transactions were started after the schedule's end"), "{late}");
        assert!(late.contains("a delay of 0.25 s explains in a run of 1.0 s"), "{late}");
    }

    #[test]
    fn a_short_run_that_falls_far_behind_is_invalid() {
        assert!(only(&of(50, 25, SECOND)).contains("(-50.0%)"));
        assert!(not_judged(&of(50, 25, SECOND)).is_empty());
        assert!(only(&of(100_000, 80_000, SECOND)).contains("(-80.0%)"));
    }

    #[test]
    fn a_backlog_in_quarters_that_one_delay_fills_is_not_judged() {
        let short = Facts { grew: Some((0, 12)), ..of(400, 0, SECOND / 2) };
        assert!(
            only_not_judged(&short).starts_with("its backlog was not judged: it grew in the last quarter")
        );
        let long = Facts { grew: Some((0, 12)), ..of(400, 0, SECOND) };
        assert!(only(&long).starts_with("its backlog grew"));
    }

    #[test]
    fn a_run_that_was_cut_short_is_invalid_and_has_nothing_to_judge() {
        let cut = Some((SECOND, 60 * SECOND, "it was stopped".to_owned()));
        assert!(not_judged(&Facts { cut, ..of(25, 0, SECOND) }).is_empty());
    }

    #[test]
    fn an_error_in_a_hundred_is_counted_and_no_reason() {
        let counts = Counts { errors: 10, ..facts().counts };
        assert!(reasons(&Facts { counts, ..facts() }).is_empty());
    }

    #[test]
    fn a_closed_loop_has_no_rate_to_miss() {
        let closed = Facts { intended_rate: None, rate: 3.0, ..of(20, 0, SECOND) };
        assert!(reasons(&closed).is_empty() && not_judged(&closed).is_empty());
    }
}
