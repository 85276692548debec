//! Stretches in which no transaction ended while some were due or running.
//!
//! A freeze is a gap of a second or more between two ends that follow each other, wherever seconds begin. For each second
//! its first and its last end are kept: a gap of a second is never between two ends of one second, so that the gaps that
//! are found are exact, in whatever order ends come to be known.

use super::clock::SECOND;
use crate::oltp::verdict::Freeze;

/// A shorter gap is a checkpoint's or a scheduler's, and is in the percentiles.
const SHORTEST: i64 = SECOND;
/// Ends that the gap takes from the run, at its rate. Poisson arrivals leave so long a gap once in 22,000 times (e^-10).
const MISSING: f64 = 10.0;
/// So many waiting are more than transactions that take their time, also where other connections are free.
const MANY: u64 = 10;

/// Of one stretch. Instants are ns of CLOCK_MONOTONIC.
pub(super) struct Freezes {
    zero: i64,
    /// First and last end of each second. None: it has none.
    seconds: Vec<Option<(i64, i64)>>,
    ends: u64,
    last: i64,
    /// When nothing was seen to be due or running.
    idle: i64,
    /// While none ended for half of `SHORTEST`.
    looks: Vec<Look>,
}

#[derive(Clone, Copy)]
struct Look {
    at: i64,
    waiting: u64,
    all_busy: bool,
    idle: i64,
}

impl Freezes {
    pub(super) fn new(zero: i64) -> Self {
        Self { zero, seconds: Vec::new(), ends: 0, last: zero, idle: zero, looks: Vec::new() }
    }

    /// A transaction that was sent came to an end of any kind.
    pub(super) fn end(&mut self, at: i64) {
        let second = ((at - self.zero).max(0) / SECOND) as usize;
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, None);
        }
        let slot = &mut self.seconds[second];
        *slot = Some(slot.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
        self.ends += 1;
        self.last = self.last.max(at);
    }

    /// How many are due or running at an instant, and whether every connection is at work.
    pub(super) fn look(&mut self, at: i64, waiting: u64, all_busy: bool) {
        if waiting == 0 {
            self.idle = at;
        } else if at - self.last > SHORTEST / 2 {
            self.looks.push(Look { at, waiting, all_busy, idle: self.idle });
        }
    }

    /// In order. `rate`: of arrivals at an instant since zero, where the schedule has one.
    pub(super) fn found(&self, rate: impl Fn(i64) -> Option<f64>) -> Vec<Freeze> {
        let mut found = Vec::new();
        let mut before = self.zero;
        for (first, last) in self.seconds.iter().flatten() {
            found.extend(self.freeze(before, *first, &rate));
            before = *last;
        }
        // Nothing ended any more, up to the last look.
        let until = self.looks.last().map_or(before, |look| look.at + 1);
        found.extend(self.freeze(before, until, &rate));
        found
    }

    fn freeze(&self, before: i64, next: i64, rate: impl Fn(i64) -> Option<f64>) -> Option<Freeze> {
        if next - before < SHORTEST {
            return None;
        }
        let place = self.looks.partition_point(|look| look.at < next).checked_sub(1)?;
        let look = self.looks[place];
        let start = before.max(look.idle);
        let length = next - start;
        let mean = self.ends as f64 * SECOND as f64 / (self.last - self.zero).max(1) as f64;
        let rate = rate(start - self.zero).map_or(mean, |rate| rate.min(mean));
        let missing = length as f64 / SECOND as f64 * rate;
        (look.at >= before
            && length >= SHORTEST
            && missing >= MISSING
            && (look.all_busy || look.waiting >= MANY))
            .then_some(Freeze { start_ns: start - self.zero, length_ns: length, waiting: look.waiting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = SECOND / 1000;
    const ZERO: i64 = 7 * SECOND + 123;

    /// A transaction ends every 20 ms for ten seconds, but for those that would end in a stretch, which end after it.
    fn frozen(from: i64, to: i64) -> Freezes {
        let mut freezes = Freezes::new(ZERO);
        for at in (0..10_000).filter(|at| at % 10 == 5) {
            let is_frozen = (from..to).contains(&at);
            if at % 20 == 15 && !is_frozen {
                freezes.end(ZERO + at * MS);
            }
            if at % 100 == 95 {
                let waiting = if is_frozen { (at - from) / 20 } else { 1 };
                freezes.look(ZERO + at * MS, waiting as u64, is_frozen && waiting >= 4);
            }
        }
        freezes
    }

    #[test]
    fn one_of_a_second_that_straddles_two_seconds_is_found() {
        // The last end before it is at 2,395 ms, the next one after it at 3,415 ms.
        let found = frozen(2_400, 3_400).found(|_| Some(50.0));
        assert_eq!(found, [Freeze { start_ns: 2_395 * MS, length_ns: 1_020 * MS, waiting: 49 }]);
    }

    #[test]
    fn one_that_is_shorter_than_a_second_is_none() {
        assert!(frozen(2_400, 3_360).found(|_| Some(50.0)).is_empty());
    }

    #[test]
    fn ends_may_come_to_be_known_in_any_order() {
        let mut freezes = Freezes::new(ZERO);
        let ends = (0..500).map(|place| place * 20).filter(|at| !(2_401..3_600).contains(at));
        for at in ends.rev() {
            freezes.end(ZERO + at * MS);
        }
        freezes.last = ZERO + 2_400 * MS; // as it was known then
        freezes.look(ZERO + 3_500 * MS, 55, true);
        freezes.last = ZERO + 9_980 * MS;
        let found = freezes.found(|_| None);
        assert_eq!(found, [Freeze { start_ns: 2_400 * MS, length_ns: 1_200 * MS, waiting: 55 }]);
    }

    #[test]
    fn a_gap_in_which_nothing_was_due_is_none() {
        let mut freezes = Freezes::new(ZERO);
        for at in (0..1000).chain(5000..6000) {
            freezes.end(ZERO + at * MS);
        }
        freezes.last = ZERO + 999 * MS;
        freezes.look(ZERO + 4_900 * MS, 0, false);
        assert!(freezes.found(|_| None).is_empty());
        // What is due at last waits for 1.5 s.
        let mut late = Freezes::new(ZERO);
        (0..1000).for_each(|at| late.end(ZERO + at * MS));
        late.look(ZERO + 3_500 * MS, 0, false);
        late.look(ZERO + 4_900 * MS, 20, false);
        late.end(ZERO + 5_000 * MS);
        let found = late.found(|_| None);
        assert_eq!(found, [Freeze { start_ns: 3_500 * MS, length_ns: 1_500 * MS, waiting: 20 }]);
    }

    #[test]
    fn slow_transactions_at_a_low_rate_are_none() {
        // Two of four connections are at transactions of 3 s; ends come at 0.7/s.
        let mut slow = Freezes::new(ZERO);
        for second in 0..20 {
            slow.end(ZERO + second * 1_500 * MS);
            slow.look(ZERO + (second * 1_500 + 1_400) * MS, 2, false);
        }
        assert!(slow.found(|_| None).is_empty());
        // A fast phase before does not make a slow one a freeze.
        let mut phases = Freezes::new(ZERO);
        (0..10_000).for_each(|at| phases.end(ZERO + at * MS));
        phases.look(ZERO + 12_900 * MS, 1, true);
        phases.end(ZERO + 13_000 * MS);
        assert!(phases.found(|at| Some(if at < 9_990 * MS { 1000.0 } else { 0.3 })).is_empty());
        assert_eq!(phases.found(|_| None).len(), 1);
    }

    #[test]
    fn a_server_that_never_answers_again_is_frozen_to_the_last_look() {
        let mut freezes = Freezes::new(ZERO);
        (0..1000).for_each(|at| freezes.end(ZERO + at * MS));
        for at in [1_600, 2_600, 3_600] {
            freezes.look(ZERO + at * MS, at as u64, true);
        }
        let found = freezes.found(|_| None);
        assert_eq!((found.len(), found[0].start_ns, found[0].waiting), (1, 999 * MS, 3_600));
        assert_eq!(found[0].length_ns, 2_601 * MS + 1);
    }
}
