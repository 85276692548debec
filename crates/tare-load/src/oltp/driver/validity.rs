//! Why a run is not valid: each reason a sentence with its figure.

use super::clock::SECOND;
use crate::oltp::told::Counts;

/// Of the intended rate.
const MISSED: f64 = 0.01;
/// Of what was offered: a load whose transactions are refused is not the workload's.
const ERRORS: f64 = 0.01;

/// What a run is judged by.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) counts: Counts,
    /// None: a closed loop has none to miss.
    pub(super) intended_rate: Option<f64>,
    pub(super) rate: f64,
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

fn missed(facts: &Facts) -> Option<String> {
    let (rate, intended) = (facts.rate, facts.intended_rate?);
    ((rate - intended).abs() > MISSED * intended).then(|| {
        let percent = 100.0 * (rate / intended - 1.0);
        format!("it missed its rate: {rate:.2}/s were started of {intended:.2}/s intended ({percent:+.1}%)")
    })
}

fn grew(facts: &Facts) -> Option<String> {
    let (third, last) = facts.grew?;
    Some(format!(
        "its backlog grew: at least {third} transactions were due and not started all through its third quarter, \
         at least {last} all through its last"
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
        Facts { counts, intended_rate: Some(500.0), rate: 496.0, ..Facts::default() }
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
            only(&Facts { rate: 494.0, ..facts() })
                .contains("494.00/s were started of 500.00/s intended (-1.2%)")
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

    #[test]
    fn an_error_in_a_hundred_is_counted_and_no_reason() {
        let counts = Counts { errors: 10, ..facts().counts };
        assert!(reasons(&Facts { counts, ..facts() }).is_empty());
    }

    #[test]
    fn a_closed_loop_has_no_rate_to_miss() {
        assert!(reasons(&Facts { intended_rate: None, rate: 3.0, ..facts() }).is_empty());
    }
}
