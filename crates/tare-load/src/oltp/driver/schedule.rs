//! When transactions are due: an open loop's schedule, made anew from its definition each time it is walked.
//!
//! Rates are piecewise constant, so the number of arrivals expected up to an instant is piecewise linear. Evenly spaced
//! arrival k is due where that number is k + ½, in the middle of its gap: a phase of n arrivals has all n inside it, at
//! exact multiples of the gap, and what is left of a gap at a phase's end is waited for at the next phase's rate. A
//! Poisson process is due where it reaches the sum of k + 1 exponential gaps of mean 1.

use std::path::PathBuf;

use super::clock::{self, SECOND};
use super::streams::GAPS;
use super::trace::Trace;
use crate::oltp::Random;
use crate::oltp::request::Phase;

/// A definition, which can be walked any number of times.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    how: How,
    legs: Vec<Leg>,
    length: i64,
}

#[derive(Clone, Debug)]
enum How {
    Even,
    Poisson(Random),
    Trace(PathBuf),
}

/// A phase: where it begins in time (ns) and in expected arrivals, and where it ends in them.
#[derive(Clone, Copy, Debug)]
struct Leg {
    from_ns: f64,
    from: f64,
    to: f64,
    per_ns: f64,
}

impl Schedule {
    /// Evenly spaced. Every phase has a rate above 0.
    pub(super) fn even(phases: &[Phase]) -> Self {
        Self { how: How::Even, legs: legs(phases), length: length(phases) }
    }

    /// With exponential gaps, drawn from the seed. Every phase has a rate above 0.
    pub(super) fn poisson(phases: &[Phase], seed: u64, stream: &[u64]) -> Self {
        let random = Random::at(seed, &[stream, &[GAPS]].concat());
        Self { how: How::Poisson(random), legs: legs(phases), length: length(phases) }
    }

    /// As the file has them, up to the phases' end.
    pub(super) fn trace(file: PathBuf, phases: &[Phase]) -> Self {
        Self { how: How::Trace(file), legs: Vec::new(), length: length(phases) }
    }

    /// From its start to its end, in ns.
    pub(super) fn length(&self) -> i64 {
        self.length
    }

    /// From the first, in ns from the start, in order.
    pub(super) fn walk(&self) -> Result<Arrivals, String> {
        let pace = match &self.how {
            How::Even => Pace::Even(0),
            How::Poisson(random) => Pace::Poisson(random.clone(), 0.0),
            How::Trace(file) => Pace::Trace(Trace::open(file)?),
        };
        Ok(Arrivals { pace, legs: self.legs.clone(), leg: 0, length: self.length })
    }
}

/// A walk along a schedule.
pub(super) struct Arrivals {
    pace: Pace,
    legs: Vec<Leg>,
    leg: usize,
    length: i64,
}

enum Pace {
    /// How many there were.
    Even(u64),
    /// The sum of the gaps so far.
    Poisson(Random, f64),
    Trace(Trace),
}

impl Arrivals {
    /// Only a trace can fail.
    pub(super) fn next(&mut self) -> Result<Option<i64>, String> {
        let expected = match &mut self.pace {
            Pace::Even(count) => {
                *count += 1;
                *count as f64 - 0.5
            }
            Pace::Poisson(random, sum) => {
                *sum += random.gap();
                *sum
            }
            Pace::Trace(trace) => return Ok(trace.next()?.filter(|at| *at < self.length)),
        };
        Ok(self.instant(expected))
    }

    /// Where so many are expected. Asked for rising numbers.
    fn instant(&mut self, expected: f64) -> Option<i64> {
        while self.legs.get(self.leg)?.to <= expected {
            self.leg += 1;
        }
        let leg = self.legs[self.leg];
        let at = (leg.from_ns + (expected - leg.from) / leg.per_ns).round() as i64;
        Some(at.min(self.length - 1))
    }
}

fn legs(phases: &[Phase]) -> Vec<Leg> {
    let mut legs = Vec::with_capacity(phases.len());
    let (mut from_ns, mut from) = (0.0, 0.0);
    for phase in phases {
        let per_ns = phase.rate.unwrap_or(0.0) / SECOND as f64;
        let lasts = clock::ns(phase.duration_s) as f64;
        let to = from + per_ns * lasts;
        legs.push(Leg { from_ns, from, to, per_ns });
        (from_ns, from) = (from_ns + lasts, to);
    }
    legs
}

/// Of all phases together, in ns.
pub(super) fn length(phases: &[Phase]) -> i64 {
    phases.iter().map(|phase| clock::ns(phase.duration_s)).sum()
}

/// The phase at an instant from the start; after the end, the last.
pub(super) fn phase_at(phases: &[Phase], at: i64) -> usize {
    let mut end = 0;
    let later = |phase: &Phase| {
        end += clock::ns(phase.duration_s);
        at < end
    };
    phases.iter().position(later).unwrap_or(phases.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn phase(rate: f64, duration_s: f64) -> Phase {
        Phase { rate: Some(rate), duration_s }
    }

    fn all(schedule: &Schedule) -> Vec<i64> {
        to_the_end(schedule.walk().unwrap())
    }

    fn to_the_end(mut walk: Arrivals) -> Vec<i64> {
        std::iter::from_fn(|| walk.next().unwrap()).collect()
    }

    /// Once it is open the file may go.
    fn traced(text: &str) -> Arrivals {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Schedule::trace(file.path().into(), &[Phase { rate: None, duration_s: 10.0 }]).walk().unwrap()
    }

    #[test]
    fn five_hundred_a_second_are_five_hundred_in_each_second_two_milliseconds_apart() {
        let due = all(&Schedule::even(&[phase(500.0, 60.0)]));
        assert_eq!(due.len(), 30_000);
        assert_eq!(due[0], 1_000_000);
        assert!((0..60).all(|n| due.iter().filter(|at| **at / SECOND == n).count() == 500));
        assert!(due.windows(2).all(|pair| (pair[1] - pair[0] - 2_000_000).abs() <= 1));
    }

    #[test]
    fn after_a_day_of_gaps_that_are_no_whole_numbers_nothing_has_drifted() {
        let mut walk = Schedule::even(&[phase(3.0, 86_400.0)]).walk().unwrap();
        let last = std::iter::from_fn(|| walk.next().unwrap()).last().unwrap();
        let exact = (86_400 * SECOND) - SECOND / 6;
        assert!((last - exact).abs() <= 20, "{last} {exact}");
    }

    #[test]
    fn below_one_a_second_the_gaps_are_as_long_as_they_must_be() {
        assert_eq!(all(&Schedule::even(&[phase(0.1, 30.0)])), [5 * SECOND, 15 * SECOND, 25 * SECOND]);
    }

    #[test]
    fn every_phase_has_its_own_rate_and_number() {
        let due = all(&Schedule::even(&[phase(10.0, 2.0), phase(1000.0, 1.0), phase(0.5, 4.0)]));
        let within =
            |from: i64, to: i64| due.iter().filter(|at| (from * SECOND..to * SECOND).contains(at)).count();
        assert_eq!((within(0, 2), within(2, 3), within(3, 7), due.len()), (20, 1000, 2, 1022));
    }

    #[test]
    fn what_is_left_of_a_gap_is_waited_for_at_the_next_phases_rate() {
        // half an arrival in the first phase, so the second's is due at its start
        assert_eq!(all(&Schedule::even(&[phase(0.25, 2.0), phase(1.0, 1.0)])), [2 * SECOND]);
        assert!(all(&Schedule::even(&[phase(0.1, 4.0)])).is_empty());
    }

    #[test]
    fn poisson_gaps_have_mean_and_deviation_alike_and_come_from_the_seed() {
        let of = |seed| all(&Schedule::poisson(&[phase(1000.0, 100.0)], seed, &[]));
        let due = of(7);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.02, "{deviation}");
        assert_eq!(due, of(7));
        assert_ne!(due, of(8));
    }

    #[test]
    fn a_trace_is_followed_up_to_the_runs_end() {
        assert_eq!(
            to_the_end(traced("0\n0.5\n0.5\n9.999\n10\n11\n")),
            [0, SECOND / 2, SECOND / 2, 9_999_000_000]
        );
    }

    #[test]
    fn a_trace_is_refused_at_the_line_that_is_no_number_or_falls() {
        for (text, line, why) in [
            ("1\n2\n1.5\n", "line 3", "1.5 comes before the arrival above it"),
            ("1\nsoon\n", "line 2", "`soon` is no number of seconds from the start"),
            ("-1\n", "line 1", "`-1` is no number"),
            ("NaN\n", "line 1", "is no number"),
            ("1\n\n2\n", "line 2", "`` is no number"),
        ] {
            let mut walk = traced(text);
            let error = std::iter::from_fn(|| walk.next().transpose()).find_map(Result::err).unwrap();
            assert!(error.contains(line) && error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_trace_that_is_not_there_is_named() {
        let nowhere = Schedule::trace(PathBuf::from("/nowhere/trace"), &[]);
        assert!(nowhere.walk().err().unwrap().contains("/nowhere/trace"));
    }

    proptest! {
        #[test]
        fn arrivals_rise_and_are_as_many_as_the_rates_say(
            phases in prop::collection::vec((0.05_f64..2000.0, 0.1_f64..5.0), 1..5)
        ) {
            let phases: Vec<Phase> = phases.into_iter().map(|(rate, lasts)| phase(rate, lasts)).collect();
            let schedule = Schedule::even(&phases);
            let due = all(&schedule);
            let expected: f64 = phases.iter().map(|p| p.rate.unwrap() * clock::ns(p.duration_s) as f64 / 1e9).sum();
            prop_assert!((due.len() as f64 - expected).abs() <= 0.5 + 1e-6);
            prop_assert!(due.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(due.iter().all(|at| (0..schedule.length()).contains(at)));
        }
    }
}
