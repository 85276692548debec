//! When a recorder looks again.

use std::time::{Duration, Instant};

/// First, and whenever something has changed.
const SOON: Duration = Duration::from_millis(10);
const SHORTEST: Duration = Duration::from_millis(2);
/// A look costs as much as hundreds of records, and interrupts a server on the same CPU.
const LONGEST: Duration = Duration::from_millis(50);
/// Of the fullest ring, at the next look: it may become eight times as much without a loss.
const AIM: f64 = 0.125;

/// Seldom where little comes, often where a ring would not last.
#[derive(Debug)]
pub(super) struct Pace {
    looked: Instant,
    pause: Duration,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { looked: Instant::now(), pause: SOON }
    }

    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Nothing is known of what comes now.
    pub(super) fn changed(&mut self) {
        self.pause = SOON;
    }

    /// A look found the fullest ring so full, 0 to 1.
    pub(super) fn looked(&mut self, fullest: f64) {
        self.pause = next(self.looked.elapsed(), fullest);
        self.looked = Instant::now();
    }
}

fn next(waited: Duration, fullest: f64) -> Duration {
    let longest = waited.as_secs_f64() * AIM / fullest; // infinite, or no number, where nothing came
    if longest < LONGEST.as_secs_f64() { Duration::from_secs_f64(longest).max(SHORTEST) } else { LONGEST }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITED: Duration = Duration::from_millis(10);

    #[test]
    fn a_ring_that_fills_twice_as_fast_is_looked_at_twice_as_often() {
        assert_eq!(next(WAITED, 0.125), WAITED);
        assert_eq!(next(WAITED, 0.25), WAITED / 2);
        assert_eq!(next(WAITED, 0.0625), WAITED * 2);
    }

    #[test]
    fn no_pause_is_longer_or_shorter_than_it_may_be() {
        assert_eq!(next(WAITED, 0.0), LONGEST);
        assert_eq!(next(Duration::ZERO, 0.0), LONGEST);
        assert_eq!(next(WAITED, 1e-9), LONGEST);
        assert_eq!(next(WAITED, 1.0), SHORTEST);
        assert_eq!(next(Duration::ZERO, 1.0), SHORTEST);
    }
}
