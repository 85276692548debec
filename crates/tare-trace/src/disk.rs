//! Block requests: whose they are, and when they were in flight.
//!
//! A request belongs to the thread that submitted it. That is whoever ran into the page that was missing, read
//! ahead, or wrote past the cache. It is not known for whom a thread of the kernel submits (write-back, journal),
//! nor who else waits for a page that is on its way. A request that is merged into another counts as that one.
//! Flushes carry no data and are left out.

use std::collections::HashMap;

use crate::event::{Address, Request, Who};
use crate::spans::Spans;

/// One request.
#[derive(Debug, Clone, Copy)]
struct Passage {
    by: Who,
    kernel: bool,
    submitted: u64,
    issued: Option<u64>,
    done: Option<u64>,
    bytes: u64,
    merged: bool,
    lost: bool, // its end was missed: `done` is only when it had ended by
}

impl Passage {
    fn flight(&self, to: u64) -> (u64, u64) {
        (self.issued.unwrap_or(self.submitted), self.done.unwrap_or(to))
    }
}

/// All requests, in the order in which they were heard of.
#[derive(Debug, Default)]
pub struct Disk {
    passages: Vec<Passage>,
    open: HashMap<Address, usize>,
}

/// The requests of the chosen processes within an interval, and what stands beside them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskParts {
    /// At least one of theirs was with the device, ns.
    pub in_flight_ns: u64,
    /// At least one of theirs was submitted and not done, ns.
    pub outstanding_ns: u64,
    /// Theirs that were in flight at some time of the interval.
    pub requests: u64,
    /// The size of these.
    pub bytes: u64,
    /// At least one of somebody else's was with the device, ns.
    pub others_ns: u64,
    /// Somebody else's requests.
    pub others_requests: u64,
    /// Of these, submitted by threads of the kernel: for whom is not known.
    pub kernel_requests: u64,
    /// The end of each of the chosen processes' requests was traced.
    pub trusted: bool,
}

impl Disk {
    /// A thread asks for a request.
    pub fn submit(&mut self, at: u64, request: &Request) {
        self.open(at, request);
    }

    /// A request is given to its device; not the first time if it had to be queued again.
    ///
    /// Where submissions cannot be traced it is heard of here first, and belongs to whoever issues it.
    pub fn issue(&mut self, at: u64, request: &Request) {
        let index = self.open.get(&request.address).copied().unwrap_or_else(|| self.open(at, request));
        let passage = &mut self.passages[index];
        passage.issued.get_or_insert(at);
        passage.bytes = u64::from(request.bytes);
    }

    /// A device is done with a request. One that is not known was submitted before anybody listened.
    pub fn done(&mut self, at: u64, request: &Request) {
        if let Some(index) = self.open.remove(&request.address) {
            self.passages[index].done = Some(at);
        }
    }

    /// A request becomes part of another one, which goes on for both.
    pub fn merge(&mut self, request: &Request) {
        if let Some(index) = self.open.remove(&request.address) {
            self.passages[index].merged = true;
        }
    }

    fn open(&mut self, at: u64, request: &Request) -> usize {
        let index = self.passages.len();
        self.passages.push(Passage {
            by: request.by,
            kernel: request.kernel,
            submitted: at,
            issued: None,
            done: None,
            bytes: u64::from(request.bytes),
            merged: false,
            lost: false,
        });
        if let Some(before) = self.open.insert(request.address, index) {
            // The address is in use again, so the request before it ended some time since.
            self.passages[before].done = Some(at);
            self.passages[before].lost = true;
        }
        index
    }

    /// When a request of these processes was with the device, up to `to`.
    pub fn in_flight(&self, to: u64, chosen: impl Fn(&Who) -> bool) -> Spans {
        let ours = self.passages.iter().filter(|p| !p.merged && chosen(&p.by));
        Spans::union(ours.map(|p| p.flight(to)).collect())
    }

    /// The requests within `[from, to)`.
    pub fn parts(&self, from: u64, to: u64, chosen: impl Fn(&Who) -> bool) -> DiskParts {
        let within = |p: &&Passage| !p.merged && p.flight(to).0 < to && p.done.is_none_or(|done| done > from);
        let (ours, others): (Vec<&Passage>, Vec<&Passage>) =
            self.passages.iter().filter(within).partition(|p| chosen(&p.by));
        let outstanding = ours.iter().map(|p| (p.submitted, p.done.unwrap_or(to))).collect();
        DiskParts {
            in_flight_ns: self.in_flight(to, &chosen).within(from, to).total(),
            outstanding_ns: Spans::union(outstanding).within(from, to).total(),
            requests: ours.len() as u64,
            bytes: ours.iter().map(|p| p.bytes).sum(),
            others_ns: self.in_flight(to, |who| !chosen(who)).within(from, to).total(),
            others_requests: others.len() as u64,
            kernel_requests: others.iter().filter(|p| p.kernel).count() as u64,
            trusted: ours.iter().all(|p| p.done.is_some() && !p.lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(address: u64, tgid: i32, bytes: u32) -> Request {
        let by = Who { tid: tgid, tgid, traced: true };
        Request { address, by, kernel: tgid == 2, bytes, operation: 0 }
    }

    fn ours(who: &Who) -> bool {
        who.tgid == 1
    }

    #[test]
    fn overlapping_requests_are_in_flight_once() {
        let mut disk = Disk::default();
        for (address, submitted, issued, done) in [(1, 10, 12, 40), (2, 20, 21, 60), (3, 80, 81, 90)] {
            disk.submit(submitted, &request(address, 1, 0));
            disk.issue(issued, &request(address, 9, 4096));
            disk.done(done, &request(address, 9, 0));
        }
        let parts = disk.parts(0, 100, ours);
        assert_eq!((parts.in_flight_ns, parts.outstanding_ns), (48 + 9, 50 + 10));
        assert_eq!((parts.requests, parts.bytes, parts.others_requests), (3, 3 * 4096, 0));
        assert!(parts.trusted);
    }

    #[test]
    fn a_request_is_its_submitters_whoever_issues_it() {
        let mut disk = Disk::default();
        disk.submit(10, &request(1, 2, 0));
        disk.issue(11, &request(1, 1, 512));
        let parts = disk.parts(0, 100, ours);
        assert_eq!((parts.requests, parts.others_requests, parts.kernel_requests), (0, 1, 1));
        assert_eq!((parts.in_flight_ns, parts.others_ns), (0, 89));
    }

    #[test]
    fn without_a_submission_it_is_its_issuers() {
        let mut disk = Disk::default();
        disk.issue(10, &request(1, 1, 512));
        disk.issue(20, &request(1, 1, 512));
        disk.done(30, &request(1, 0, 0));
        assert_eq!(disk.parts(0, 100, ours).in_flight_ns, 20);
    }

    #[test]
    fn an_end_that_was_missed_shows_when_the_address_is_used_again() {
        let mut disk = Disk::default();
        for at in [10, 50] {
            disk.submit(at, &request(1, 1, 0));
            disk.issue(at + 1, &request(1, 1, 512));
        }
        disk.done(60, &request(1, 1, 0));
        assert!(!disk.parts(0, 100, ours).trusted);
        assert!(disk.parts(50, 100, ours).trusted);
    }

    #[test]
    fn a_request_of_theirs_that_never_ends_is_one_whose_end_was_missed() {
        let mut disk = Disk::default();
        disk.submit(10, &request(1, 1, 0));
        disk.issue(11, &request(1, 1, 512));
        assert!(!disk.parts(0, 100, ours).trusted);
        assert!(disk.parts(0, 100, |who| who.tgid == 5).trusted);
    }

    #[test]
    fn a_request_that_is_merged_goes_on_as_another() {
        let mut disk = Disk::default();
        disk.submit(10, &request(1, 1, 512));
        disk.submit(11, &request(2, 1, 512));
        disk.merge(&request(2, 1, 512));
        disk.issue(20, &request(1, 9, 1024));
        disk.done(30, &request(1, 9, 0));
        let parts = disk.parts(0, 100, ours);
        assert_eq!((parts.requests, parts.bytes, parts.in_flight_ns, parts.trusted), (1, 1024, 10, true));
    }

    #[test]
    fn an_end_whose_beginning_nobody_heard_is_passed_over() {
        let mut disk = Disk::default();
        disk.done(5, &request(1, 1, 0));
        assert_eq!(disk.parts(0, 100, ours), DiskParts { trusted: true, ..DiskParts::default() });
    }

    proptest! {
        #[test]
        fn time_in_flight_is_at_most_the_interval_and_the_sum_of_the_requests(
            all in proptest::collection::vec((0u64..100, 0u64..20, 0u64..50), 0..30),
        ) {
            let mut disk = Disk::default();
            for (address, (at, wait, length)) in all.iter().enumerate() {
                let address = address as u64;
                disk.submit(*at, &request(address, 1, 0));
                disk.issue(at + wait, &request(address, 1, 8));
                disk.done(at + wait + length, &request(address, 1, 0));
            }
            let parts = disk.parts(0, 100, ours);
            prop_assert!(parts.in_flight_ns <= parts.outstanding_ns && parts.outstanding_ns <= 100);
            prop_assert!(parts.in_flight_ns <= all.iter().map(|request| request.2).sum());
            prop_assert!(parts.trusted);
        }
    }
}
