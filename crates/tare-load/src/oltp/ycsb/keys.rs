//! Which keys there are, and which of them the next transaction asks for.
//!
//! Keys are whole numbers from 0 in the order of their insertion; YCSB writes them as `user` and a hash.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::oltp::Random;
use crate::oltp::ycsb::scatter::scattered;
use crate::oltp::ycsb::settings::Distribution;
use crate::oltp::ycsb::zipf::{Skew, Zipf};

/// As many as YCSB draws ranks from, however few keys share them: the hottest key has the same part of all requests
/// in a small table as in a large one (3.8% and its share of the rest, at θ = 0.99).
const RANKS: u64 = 10_000_000_000;

/// Shared by all threads of a run.
#[derive(Debug)]
pub struct Keys {
    distribution: Distribution,
    skew: Skew,
    scattered: Zipf,
    /// One above the highest that was inserted.
    known: AtomicU64,
    /// The next to insert; ahead of `known` by inserts that are under way.
    next: AtomicU64,
}

impl Keys {
    /// Over 0..known.
    pub fn new(distribution: Distribution, theta: f64, known: u64) -> Self {
        let skew = Skew::new(theta);
        Self {
            distribution,
            skew,
            scattered: skew.over(RANKS),
            known: AtomicU64::new(known),
            next: AtomicU64::new(known),
        }
    }

    /// As the table stands.
    pub fn meet(&self, known: u64) {
        self.known.store(known, Relaxed);
        self.next.store(known, Relaxed);
    }

    /// One to read, scan from, update or delete. It may have been deleted, or be inserted at this moment.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let known = self.known.load(Relaxed);
        match self.distribution {
            Distribution::Zipfian => scattered(self.scattered.draw(random), known),
            Distribution::Uniform => random.below(known),
            Distribution::Latest => known - 1 - self.skew.over(known).draw(random),
        }
    }

    /// One that this process has not inserted.
    pub fn claim(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// It stands in the table, or will as soon as its transaction commits.
    pub fn inserted(&self, key: u64) {
        self.known.fetch_max(key + 1, Relaxed);
    }

    /// Somebody else inserts into the table, too: two that leap over each other by random widths seldom meet again,
    /// and each fills the gap that the other left.
    pub fn leap(&self, over: u64) {
        self.next.fetch_add(over, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;
    use crate::oltp::Random;
    use crate::oltp::ycsb::settings::Distribution;
    use crate::oltp::ycsb::zipf::Skew;

    const DRAWS: u32 = 200_000;

    fn requests(keys: &Keys, known: usize) -> Vec<u32> {
        let mut random = Random::at(3, &[]);
        let mut seen = vec![0; known];
        (0..DRAWS).for_each(|_| seen[keys.draw(&mut random) as usize] += 1);
        seen
    }

    #[test]
    fn uniform_requests_are_spread_over_all_keys() {
        let seen = requests(&Keys::new(Distribution::Uniform, 0.99, 100), 100);
        let due = f64::from(DRAWS) / 100.0;
        let chi_squared: f64 = seen.iter().map(|count| (f64::from(*count) - due).powi(2) / due).sum();
        assert!(chi_squared < 160.0, "{chi_squared} with 99 degrees of freedom");
    }

    #[test]
    fn the_hottest_key_has_its_part_of_all_requests() {
        let seen = requests(&Keys::new(Distribution::Zipfian, 0.99, 1_000_000), 1_000_000);
        let hottest = f64::from(*seen.iter().max().unwrap()) / f64::from(DRAWS);
        let due = 1.0 / Skew::new(0.99).zeta(super::RANKS);
        assert!((hottest / due - 1.0).abs() < 0.05, "{hottest}, due {due}");
    }

    #[test]
    fn every_key_of_a_small_table_is_asked_for_at_times() {
        let seen = requests(&Keys::new(Distribution::Zipfian, 0.99, 1000), 1000);
        assert!(seen.iter().all(|count| *count > 0));
    }

    #[test]
    fn the_newest_key_is_the_hottest_of_the_latest() {
        let keys = Keys::new(Distribution::Latest, 0.99, 1000);
        keys.inserted(keys.claim());
        let seen = requests(&keys, 1001);
        let due = 1.0 / Skew::new(0.99).zeta(1001);
        assert!((f64::from(seen[1000]) / f64::from(DRAWS) / due - 1.0).abs() < 0.03);
        assert!(seen[1000] > seen[999] && seen[999] > seen[900]);
    }

    #[test]
    fn a_key_is_asked_for_only_when_it_was_inserted() {
        let keys = Keys::new(Distribution::Latest, 0.99, 10);
        let key = keys.claim();
        assert!(requests(&keys, 11)[key as usize] == 0);
        keys.inserted(key);
        assert!(requests(&keys, 11)[key as usize] > 0);
    }

    #[test]
    fn two_that_insert_into_one_table_soon_stop_meeting() {
        let pair = [0, 1].map(|_| Keys::new(Distribution::Uniform, 0.5, 0));
        let mut random = Random::at(5, &[]);
        let (mut table, mut met) = (std::collections::BTreeSet::new(), 0);
        for turn in 0..20_000 {
            let keys = &pair[turn % 2];
            if !table.insert(keys.claim()) {
                met += 1;
                keys.leap(random.below(1024));
            }
        }
        assert!(met < 400, "{met} of 20000");
        assert!(table.last().unwrap() - (table.len() as u64) < 4096, "gaps are filled");
    }
}
