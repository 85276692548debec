//! Whether the backlog grows: whether arrivals come faster, in the long run, than they can be started.
//!
//! Judged by the least backlog that was seen in the schedule's third quarter and in its last. A stall or a burst that is
//! made good within a quarter leaves its least backlog small; only what is never made good raises both.

/// The last quarter's least must be so much above the third's: what grows evenly from the start is 1.5 times as high.
const GREW: f64 = 1.1;

/// Reads the backlog at every look of the conductor, and keeps two numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backlog {
    third: Option<u64>,
    last: Option<u64>,
}

impl Backlog {
    /// At an instant of a schedule of a length.
    pub(super) fn see(&mut self, at: i64, length: i64, backlog: u64) {
        let quarter = match at {
            at if at >= length => return,
            at if at >= length - length / 4 => &mut self.last,
            at if at >= length / 2 => &mut self.third,
            _ => return,
        };
        *quarter = Some(quarter.map_or(backlog, |least| least.min(backlog)));
    }

    /// The least of the third quarter and of the last, if it grew beyond what `connections` can take at once.
    pub(super) fn grew(&self, connections: usize) -> Option<(u64, u64)> {
        let (third, last) = (self.third?, self.last?);
        (last > connections as u64 && last as f64 > GREW * third as f64).then_some((third, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(backlog: impl Fn(i64) -> u64) -> Option<(u64, u64)> {
        let mut seen = Backlog::default();
        (0..600).for_each(|tenth| seen.see(tenth, 600, backlog(tenth)));
        seen.grew(32)
    }

    #[test]
    fn a_server_one_percent_too_slow_is_found_out() {
        assert_eq!(over(|tenth| (tenth / 2) as u64), Some((150, 225)));
    }

    #[test]
    fn a_stall_that_is_made_good_is_no_growth() {
        assert_eq!(over(|tenth| if (550..580).contains(&tenth) { 1000 } else { 0 }), None);
        assert_eq!(over(|tenth| if tenth > 580 { 1000 } else { 3 }), None);
    }

    #[test]
    fn a_backlog_that_stays_as_it_is_or_within_the_connections_is_no_growth() {
        assert_eq!(over(|_| 500), None);
        assert_eq!(over(|tenth| (tenth / 30) as u64), None);
    }
}
