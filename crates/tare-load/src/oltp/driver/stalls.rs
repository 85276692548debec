//! Where a run stood still: stretches in which transactions were due or running and none ended.
//!
//! Found by the instants at which transactions ended, not by clock seconds: a freeze of one second that straddles two
//! of these leaves neither of them empty.

use super::clock::SECOND;
use crate::oltp::events::Stall;

/// Shorter ones show in the response times alone.
const SHORTEST: i64 = SECOND;
/// A run whose every transaction takes a second is one of slow transactions: these are enough to see it.
const MOST: usize = 1000;

/// Sees the end of each transaction once, in any order, and at each look what has not ended yet.
pub(super) struct Stalls {
    zero: i64,
    last_end: i64,
    /// Since when something waits, as looks since the last end saw it. None: nothing waits.
    waiting_since: Option<i64>,
    /// Since the last look: when each ended, and when it was due.
    ends: Vec<(i64, i64)>,
    found: Vec<Stall>,
}

impl Stalls {
    pub(super) fn new(zero: i64) -> Self {
        Self { zero, last_end: zero, waiting_since: None, ends: Vec::new(), found: Vec::new() }
    }

    /// A transaction that was due at an instant has ended as its workload has it.
    pub(super) fn end(&mut self, ended: i64, due: i64) {
        self.ends.push((ended, due));
    }

    /// `oldest`: when the oldest was due of the `waiting` transactions that are due or running.
    pub(super) fn look(&mut self, oldest: Option<i64>, waiting: u64) {
        let mut ends = std::mem::take(&mut self.ends);
        if self.may_close_one(&ends) {
            ends.sort_unstable();
            self.close(&ends, oldest, waiting);
        }
        if let Some(last) = ends.iter().map(|(ended, _)| *ended).max() {
            self.last_end = self.last_end.max(last);
            self.waiting_since = None;
        }
        self.waiting_since =
            oldest.map(|oldest| self.waiting_since.map_or(oldest, |since| since.min(oldest)));
        ends.clear();
        self.ends = ends; // its room is used again
    }

    /// All that were found; one that is under way lasts until now.
    pub(super) fn finish(&mut self, now: i64, waiting: u64) -> Vec<Stall> {
        self.look(self.waiting_since, waiting);
        if let Some(since) = self.waiting_since {
            self.note(since, now, waiting);
        }
        std::mem::take(&mut self.found)
    }

    fn may_close_one(&self, ends: &[(i64, i64)]) -> bool {
        ends.iter().map(|(ended, _)| *ended).max().is_some_and(|last| last - self.last_end >= SHORTEST)
    }

    /// `ends` in their order. What ends at an instant or later, and was due before it, waited until then.
    fn close(&mut self, ends: &[(i64, i64)], oldest: Option<i64>, waiting: u64) {
        let mut since = oldest.unwrap_or(i64::MAX);
        let mut due_since = vec![0; ends.len()];
        for (place, (_, due)) in ends.iter().enumerate().rev() {
            since = since.min(*due);
            due_since[place] = since;
        }
        for (place, (ended, _)) in ends.iter().enumerate() {
            let since = due_since[place].min(self.waiting_since.take().unwrap_or(i64::MAX));
            let here = ends[place..].iter().filter(|(_, due)| due < ended);
            if *ended - self.last_end.max(since) >= SHORTEST {
                self.note(since, *ended, here.count() as u64 + waiting);
            }
            self.last_end = self.last_end.max(*ended);
        }
    }

    fn note(&mut self, since: i64, until: i64, waiting: u64) {
        let from = self.last_end.max(since);
        if until - from >= SHORTEST && self.found.len() < MOST {
            self.found.push(Stall { from_ns: from - self.zero, to_ns: until - self.zero, waiting });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = SECOND / 1000;

    /// A transaction is due each 10 ms and takes 2; none ends within the freezes. A look each 100 ms.
    fn frozen(freezes: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut stalls = Stalls::new(0);
        let ended = |due: i64| {
            let end = due + 2 * MS;
            freezes.iter().find(|(from, to)| (*from..*to).contains(&end)).map_or(end, |(_, to)| *to)
        };
        let dues: Vec<i64> = (0..600).map(|number| number * 10 * MS).collect();
        for look in (1..=61).map(|number| number * 100 * MS) {
            for due in dues.iter().filter(|due| (look - 100 * MS..look).contains(&ended(**due))) {
                stalls.end(ended(*due), *due);
            }
            let waits = || dues.iter().filter(|due| **due < look && ended(**due) >= look);
            stalls.look(waits().min().copied(), waits().count() as u64);
        }
        stalls.finish(6100 * MS, 0).iter().map(|stall| (stall.from_ns / MS, stall.to_ns / MS)).collect()
    }

    #[test]
    fn a_freeze_of_a_second_is_found_wherever_it_begins() {
        for begins in (1000..2000).step_by(70) {
            let found = frozen(&[(begins * MS, (begins + 1000) * MS + 1)]);
            let [(from, to)] = found[..] else { panic!("{begins}: {found:?}") };
            assert!((begins - 10..=begins + 10).contains(&from), "{begins}: from {from}");
            assert_eq!(to, begins + 1000);
        }
    }

    #[test]
    fn a_shorter_freeze_is_none_and_two_are_two() {
        assert_eq!(frozen(&[(1500 * MS, 2400 * MS)]), []);
        assert_eq!(frozen(&[(1000 * MS, 2100 * MS), (3000 * MS, 4200 * MS)]).len(), 2);
    }

    #[test]
    fn a_pause_in_which_nothing_is_due_is_no_stall() {
        let mut stalls = Stalls::new(0);
        stalls.end(3 * MS, MS);
        stalls.look(None, 0);
        (0..50).for_each(|_| stalls.look(None, 0));
        stalls.end(5003 * MS, 5000 * MS);
        stalls.look(None, 0);
        assert!(stalls.finish(5100 * MS, 0).is_empty());
    }

    #[test]
    fn a_failed_transaction_before_a_pause_leaves_nothing_waiting() {
        let mut stalls = Stalls::new(0);
        stalls.look(Some(50 * MS), 1); // it ends in an error, which is no end as the workload has it
        stalls.look(None, 0);
        stalls.end(2002 * MS, 2000 * MS);
        stalls.look(None, 0);
        assert!(stalls.finish(2100 * MS, 0).is_empty());
    }

    #[test]
    fn a_stall_that_nothing_ends_lasts_to_the_end() {
        let mut stalls = Stalls::new(0);
        stalls.end(400 * MS, 390 * MS);
        (0..20).for_each(|_| stalls.look(Some(410 * MS), 7));
        let found = stalls.finish(2500 * MS, 7);
        assert_eq!(
            found.iter().map(|one| (one.from_ns, one.to_ns, one.waiting)).collect::<Vec<_>>(),
            [(410 * MS, 2500 * MS, 7)]
        );
    }

    #[test]
    fn what_waited_is_counted() {
        let mut stalls = Stalls::new(0);
        stalls.look(Some(100 * MS), 3);
        for number in 0..3 {
            stalls.end(1500 * MS + number, 100 * MS + number);
        }
        stalls.look(Some(1499 * MS), 2);
        assert_eq!(stalls.finish(1600 * MS, 0)[0].waiting, 5);
    }
}
