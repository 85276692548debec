//! One of several, in proportion to its weight.

use crate::oltp::Random;

/// Sums of the weights so far.
pub struct Weights(Vec<u64>);

impl Weights {
    /// At least one, none of them 0.
    pub fn of(each: impl Iterator<Item = u64>) -> Self {
        Self(
            each.scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect(),
        )
    }

    /// Its place.
    pub fn draw(&self, random: &mut Random) -> usize {
        let point = random.below(self.total());
        self.0.partition_point(|sum| *sum <= point)
    }

    /// Of all.
    pub fn total(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    /// Of all before this one.
    pub fn before(&self, place: usize) -> u64 {
        if place == 0 { 0 } else { self.0[place - 1] }
    }
}
