//! Why a run is not valid: each reason a sentence with its figure.

use super::clock::SECOND;
use super::outage::Absence;
use crate::oltp::counts::{Count, Counts, End, Role};

/// Of the intended rate.
const MISSED: f64 = 0.01;
/// Of what was offered: a load whose transactions do not end as the workload has it is not the workload's.
const GIVEN_UP: f64 = 0.01;

/// What a run is judged by.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) counts: Counts,
    /// None: a closed loop has none to miss.
    pub(super) intended_rate: Option<f64>,
    /// Transactions started, a second.
    pub(super) started_rate: f64,
    /// The least backlog of the schedule's third quarter and of its last, if it grew.
    pub(super) grew: Option<(u64, u64)>,
    pub(super) shed_after: Option<i64>,
    pub(super) drain: i64,
    pub(super) abandoned: usize,
    pub(super) absence: Option<Absence>,
    /// When the measured part began.
    pub(super) zero: i64,
    /// After how long, of how long, and why.
    pub(super) cut: Option<(i64, i64, String)>,
}

/// Empty: it is valid.
pub(super) fn reasons(facts: &Facts) -> Vec<String> {
    let reasons = [
        cut(facts),
        absence(facts),
        given_up(facts),
        missed(facts),
        grew(facts),
        shed(facts),
        unstarted(facts),
        abandoned(facts),
    ];
    reasons.into_iter().flatten().collect()
}

fn cut(facts: &Facts) -> Option<String> {
    let (after, length, why) = facts.cut.as_ref()?;
    Some(format!("it was cut short after {:.1} s of {:.1} s: {why}", seconds(*after), seconds(*length)))
}

fn absence(facts: &Facts) -> Option<String> {
    let Absence { lost, from, until } = facts.absence?;
    let from = seconds((from - facts.zero).max(0));
    let until = until.map_or("none was open again".to_owned(), |until| {
        format!("the last was open again at {:.1} s", seconds(until - facts.zero))
    });
    let connections = if lost == 1 { "connection" } else { "connections" };
    Some(format!("the server went away: it ended {lost} {connections} from {from:.1} s on, and {until}"))
}

fn given_up(facts: &Facts) -> Option<String> {
    let (given_up, offered) = (facts.counts.sum(&[Role::Failed]), facts.counts.offered);
    let share = given_up as f64 / offered.max(1) as f64;
    (share > GIVEN_UP).then(|| {
        let failed = facts.counts.values().filter(|(count, value)| count.role == Role::Failed && *value > 0);
        let causes: Vec<_> = failed.map(|(count, value)| format!("{value} {}", cause(count))).collect();
        let percent = 100.0 * share;
        format!("{given_up} of {offered} transactions were given up ({percent:.1}%): {}", causes.join(", "))
    })
}

fn cause(count: &Count) -> &'static str {
    match count.end {
        Some(End::Lost) => "lost with their connection",
        Some(End::Error) => "ended in an error of the DBMS",
        _ => count.words,
    }
}

fn missed(facts: &Facts) -> Option<String> {
    let (rate, intended) = (facts.started_rate, facts.intended_rate?);
    ((rate - intended).abs() > MISSED * intended).then(|| {
        let percent = 100.0 * (rate / intended - 1.0);
        format!("it missed its rate: {rate:.2}/s were started of {intended:.2}/s intended ({percent:+.1}%)")
    })
}

fn grew(facts: &Facts) -> Option<String> {
    let (third, last) = facts.grew?;
    let before = match third {
        0 => "at times none in its third".to_owned(),
        third => format!("at least {third} all through its third"),
    };
    Some(format!(
        "its backlog grew: at least {last} transactions were due and not started all through its last quarter, \
         {before}"
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

fn seconds(ns: i64) -> f64 {
    ns as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let counts = Counts { offered: 1000, started: 1000, committed: 1000, ..Counts::default() };
        Facts { counts, intended_rate: Some(500.0), started_rate: 496.0, ..Facts::default() }
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
            only(&Facts { started_rate: 494.0, ..facts() })
                .contains("494.00/s were started of 500.00/s intended (-1.2%)")
        );
        assert!(only(&Facts { grew: Some((150, 225)), ..facts() }).contains(
            "at least 225 transactions were due and not started all through its last quarter, at least 150"
        ));
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
                .contains("38 of 1000 transactions were given up (3.8%): 38 ended in an error of the DBMS")
        );
    }

    #[test]
    fn a_backlog_that_begins_in_the_last_quarter_names_no_zero() {
        let said = only(&Facts { grew: Some((0, 225)), ..facts() });
        assert!(said.ends_with("all through its last quarter, at times none in its third"), "{said}");
    }

    #[test]
    fn whatever_is_given_up_counts_together() {
        let counts = Counts { deadlocks: 5, lock_timeouts: 4, lost: 3, errors: 2, ..facts().counts };
        let said = only(&Facts { counts, ..facts() });
        let causes =
            "5 deadlocks, 4 lock time-outs, 3 lost with their connection, 2 ended in an error of the DBMS";
        assert_eq!(said, format!("14 of 1000 transactions were given up (1.4%): {causes}"));
    }

    #[test]
    fn a_server_that_went_away_is_named_with_the_instants() {
        let absence = Absence { lost: 4, from: 100 * SECOND + SECOND / 2, until: Some(102 * SECOND) };
        let gone = Facts { absence: Some(absence), zero: 100 * SECOND, ..facts() };
        assert_eq!(
            only(&gone),
            "the server went away: it ended 4 connections from 0.5 s on, and the last was open again at 2.0 s"
        );
        let never = Facts { absence: Some(Absence { lost: 1, until: None, ..absence }), ..gone };
        assert!(only(&never).ends_with("it ended 1 connection from 0.5 s on, and none was open again"));
    }

    #[test]
    fn one_in_a_hundred_is_counted_and_no_reason() {
        let counts = Counts { errors: 5, deadlocks: 5, ..facts().counts };
        assert!(reasons(&Facts { counts, ..facts() }).is_empty());
    }

    #[test]
    fn a_closed_loop_has_no_rate_to_miss() {
        assert!(reasons(&Facts { intended_rate: None, started_rate: 3.0, ..facts() }).is_empty());
    }
}
