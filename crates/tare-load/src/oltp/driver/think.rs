//! What a terminal's user does between transactions: keys, reads the answer, thinks.

use super::clock;
use crate::oltp::{Kind, Random};

/// TPC-C 5.2.5.4 cuts its negative-exponential think times off at ten times the mean.
const LONGEST: f64 = 10.0;

/// Before a transaction and after it, in ns, `times` as long as the workload has them. Drawn even if both are 0, so
/// that what is drawn after them is the same.
pub(super) fn times(kind: &Kind, times: f64, random: &mut Random) -> (i64, i64) {
    let thinking = kind.think_s * random.gap().min(LONGEST);
    (clock::ns(times * kind.keying_s), clock::ns(times * thinking))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_takes_its_mean_on_average_and_never_ten_times_as_long() {
        let kind = Kind { name: "buy", share: 1.0, writes: true, keying_s: 18.0, think_s: 12.0 };
        let mut random = Random::at(1, &[]);
        let drawn: Vec<(i64, i64)> = (0..200_000).map(|_| times(&kind, 0.5, &mut random)).collect();
        let mean = drawn.iter().map(|(_, thinking)| *thinking as f64).sum::<f64>() / drawn.len() as f64;
        assert!(
            drawn.iter().all(|(keying, thinking)| *keying == 9_000_000_000 && *thinking <= 60_000_000_000)
        );
        assert!((mean / 6e9 - 1.0).abs() < 0.01, "{mean}");
    }
}
