//! Ticks of a backend's clock as ns of CLOCK_MONOTONIC.

use crate::backend::Clock;

const SHIFT: u32 = 48; // 2^-48 of a rate: below 1 ns of error in a day of ticks at 3 GHz

/// One line through two readings. It never turns back and is applied to each time before any difference is formed, so
/// that differences of what it gives add up exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nanoseconds {
    ticks: u64,
    ns: u64,
    rate: u64, // ns a tick, times 2^SHIFT
}

impl Nanoseconds {
    /// The line through a clock's readings. Without two different ones, a tick is a nanosecond.
    pub fn new(clock: Clock) -> Self {
        let [ticks, later] = clock.ticks;
        let [ns, later_ns] = clock.ns;
        let rate = match (later.checked_sub(ticks), later_ns.checked_sub(ns)) {
            (Some(ticks @ 1..), Some(ns @ 1..)) => {
                let rate = ((u128::from(ns) << SHIFT) + u128::from(ticks) / 2) / u128::from(ticks);
                u64::try_from(rate).unwrap_or(u64::MAX)
            }
            _ => 1 << SHIFT,
        };
        Self { ticks, ns, rate }
    }

    /// CLOCK_MONOTONIC at a tick.
    #[inline]
    pub fn at(&self, ticks: u64) -> u64 {
        if ticks >= self.ticks {
            let since = (u128::from(ticks - self.ticks) * u128::from(self.rate)) >> SHIFT;
            self.ns.saturating_add(u64::try_from(since).unwrap_or(u64::MAX))
        } else {
            let before = (u128::from(self.ticks - ticks) * u128::from(self.rate)).div_ceil(1 << SHIFT);
            self.ns.saturating_sub(u64::try_from(before).unwrap_or(u64::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_clock_in_nanoseconds_is_left_as_it_is() {
        let line = Nanoseconds::new(Clock { ticks: [5, 90_000_000_000], ns: [5, 90_000_000_000] });
        assert_eq!([0, 7, u64::MAX >> 8].map(|ticks| line.at(ticks)), [0, 7, u64::MAX >> 8]);
    }

    #[test]
    fn a_single_reading_leaves_ticks_as_nanoseconds() {
        assert_eq!(Nanoseconds::new(Clock { ticks: [9, 9], ns: [1_000, 1_000] }).at(12), 1_003);
    }

    proptest! {
        /// Both readings are met within 1 ns over a day, at any rate from 0.5 to 6 GHz.
        #[test]
        fn the_line_goes_through_both_readings(
            start in 0..1u64 << 50, ns in 0..1u64 << 50, seconds in 1..86_400u64, mhz in 500..6_000u64,
        ) {
            let (ticks, took) = (seconds * mhz * 1_000_000, seconds * 1_000_000_000);
            let line = Nanoseconds::new(Clock { ticks: [start, start + ticks], ns: [ns, ns + took] });
            prop_assert_eq!(line.at(start), ns);
            prop_assert!(line.at(start + ticks).abs_diff(ns + took) <= 1);
        }

        #[test]
        fn it_never_turns_back(first in 0..1u64 << 40, rate in 1..5_000u64, mut times in prop::collection::vec(0..1u64 << 41, 2..20)) {
            let line = Nanoseconds::new(Clock { ticks: [first, first + 3_000_000], ns: [1 << 45, (1 << 45) + rate * 1_000] });
            times.sort_unstable();
            let times: Vec<u64> = times.into_iter().map(|ticks| line.at(ticks)).collect();
            prop_assert!(times.is_sorted());
        }
    }
}
