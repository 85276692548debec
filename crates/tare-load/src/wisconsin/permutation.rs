//! unique1 in load order: 0 … size − 1, each once, scattered by the powers of a primitive root.

use std::fmt;

/// Up to so many tuples: a primitive root (the generator) of a prime just above.
const ROOTS: [(u32, u64, u64); 6] = [
    (1_000, 279, 1_009),
    (10_000, 2_969, 10_007),
    (100_000, 21_395, 100_003),
    (1_000_000, 2_107, 1_000_003),
    (10_000_000, 211, 10_000_019),
    (100_000_000, 21, 100_000_007),
];

/// Tuples of the largest relation.
pub const LARGEST: u32 = 100_000_000;

/// No relation has so many tuples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongSize(pub u32);

impl fmt::Display for WrongSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a relation has 1 to {LARGEST} tuples, not {}", self.0)
    }
}

impl std::error::Error for WrongSize {}

/// The values one after the other, without an end: the first `size` are a permutation, which then repeats.
#[derive(Debug, Clone)]
pub struct Permutation {
    size: u64,
    generator: u64,
    prime: u64,
    seed: u64,
}

impl Permutation {
    /// Of 0 … `size` − 1. A size that is no power of ten takes the prime of the next one.
    ///
    /// # Errors
    /// `WrongSize` for none, or more than [`LARGEST`].
    pub fn new(size: u32) -> Result<Self, WrongSize> {
        let root = ROOTS.iter().find(|(most, ..)| size <= *most).filter(|_| size > 0);
        let &(_, generator, prime) = root.ok_or(WrongSize(size))?;
        Ok(Self { size: u64::from(size), generator, prime, seed: generator })
    }
}

impl Iterator for Permutation {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            self.seed = self.generator * self.seed % self.prime;
            if self.seed <= self.size {
                return u32::try_from(self.seed - 1).ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_a_permutation(size: u32) -> bool {
        let mut seen = vec![0_u64; size as usize / 64 + 1];
        let mut values = Permutation::new(size).unwrap();
        (0..size).all(|_| {
            let value = values.next().unwrap();
            let (word, bit) = (value as usize / 64, 1 << (value % 64));
            let new = value < size && seen[word] & bit == 0;
            seen[word] |= bit;
            new
        })
    }

    #[test]
    fn the_first_values_at_ten_thousand_are_the_published_ones() {
        let first: Vec<u32> = Permutation::new(10_000).unwrap().take(5).collect();
        assert_eq!(first, [8800, 1891, 3420, 9850, 7164]);
    }

    #[test]
    fn every_value_occurs_once_at_each_power_of_ten() {
        for size in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
            assert!(is_a_permutation(size), "{size}");
        }
    }

    #[test]
    fn no_relation_is_empty_or_larger_than_the_largest_prime_allows() {
        assert_eq!(Permutation::new(0).unwrap_err(), WrongSize(0));
        assert_eq!(Permutation::new(LARGEST + 1).unwrap_err(), WrongSize(LARGEST + 1));
        assert!(Permutation::new(LARGEST).is_ok());
    }

    proptest! {
        #[test]
        fn every_value_occurs_once_at_any_size(size in 1_u32..30_000) {
            prop_assert!(is_a_permutation(size));
        }

        #[test]
        fn what_follows_the_last_value_is_the_first_again(size in 1_u32..3_000) {
            let values: Vec<u32> = Permutation::new(size).unwrap().take(2 * size as usize).collect();
            let (once, again) = values.split_at(size as usize);
            prop_assert_eq!(once, again);
        }
    }
}
