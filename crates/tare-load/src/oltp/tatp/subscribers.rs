//! Whom the next transaction is about: not all subscribers are as busy.

use crate::oltp::Random;

/// Ids 1 to `count`.
#[derive(Clone, Copy, Debug)]
pub struct Subscribers {
    count: i64,
    /// A of the description's non-uniform choice: wider for more subscribers.
    a: i64,
}

impl Subscribers {
    /// So many.
    pub fn new(count: i64) -> Self {
        let a = match count {
            10_000_001.. => 2_097_151,
            1_000_001.. => 1_048_575,
            _ => 65_535,
        };
        Self { count, a }
    }

    /// How many there are.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// An id: the bits of two uniform numbers, joined. Ids with many bits set below A are drawn more often.
    pub fn draw(&self, random: &mut Random) -> i64 {
        let joined = random.between(0, self.a) | random.between(1, self.count);
        joined % self.count + 1
    }
}

#[cfg(test)]
mod tests {
    use super::Subscribers;
    use crate::oltp::Random;

    fn seen(count: i64, draws: usize) -> Vec<u32> {
        let (subscribers, mut random) = (Subscribers::new(count), Random::at(1, &[]));
        let mut seen = vec![0; count as usize];
        (0..draws).for_each(|_| seen[subscribers.draw(&mut random) as usize - 1] += 1);
        seen
    }

    #[test]
    fn a_grows_with_the_population() {
        let of = |count| Subscribers::new(count).a;
        assert_eq!([of(100_000), of(1_000_000), of(1_000_001)], [65_535, 65_535, 1_048_575]);
        assert_eq!([of(10_000_000), of(10_000_001)], [1_048_575, 2_097_151]);
    }

    #[test]
    fn every_subscriber_of_a_small_population_is_drawn() {
        assert!(seen(100, 100_000).iter().all(|count| *count > 0));
    }

    #[test]
    fn the_choice_is_as_uneven_as_two_joined_numbers_are() {
        // With a power of two of subscribers, as many as A has values, each bit is set in three of four draws.
        let count = 65_536;
        let mut seen = seen(count, 1_000_000);
        let of_sixteen_bits: f64 = f64::from(seen[65_535]) / 1_000_000.0;
        assert!((of_sixteen_bits / 0.75_f64.powi(16) - 1.0).abs() < 0.1, "{of_sixteen_bits}");
        seen.sort_unstable_by(|one, other| other.cmp(one));
        let busiest: u32 = seen[..6554].iter().sum();
        assert!(busiest > 400_000, "the busiest tenth has {busiest} of 1000000");
    }
}
