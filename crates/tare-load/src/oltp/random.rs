//! One seed, many streams: what a part of the work draws does not depend on who does it, or when.

use rand_core::Rng;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of its own for each path below the seed, the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of a place: `Random::at(seed, &[TABLE, warehouse, district])`.
    pub fn at(seed: u64, path: &[u64]) -> Self {
        let mixed = path.iter().fold(mix(seed), |so_far, step| mix(so_far ^ mix(*step)));
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0..n (Lemire's multiplication, unbiased to 2^-64·n). `n` > 0.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in low..=high.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high);
        low + self.below((high - low) as u64 + 1) as i64
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: f64) -> bool {
        self.unit() * 100.0 < percent
    }

    /// One of these, each as likely as the next.
    pub fn one_of<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len() as u64) as usize]
    }

    /// Time to the next event of a Poisson process, in units of its mean gap.
    pub fn gap(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
