//! One thread's life as its events tell it, and whether they can be the whole story.
//!
//! Each switch-in carries the kernel's own count of slices, so a missed one leaves a gap; a missed switch-out or
//! wake-up leaves a change that no thread can make.

use tare_probe::timeline::State;

use crate::event::After;
use crate::spans::Spans;

/// A place where events must be missing: between two moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The last event before it, ns.
    pub from: u64,
    /// The event that shows it, ns.
    pub to: u64,
    /// What is missing.
    pub why: &'static str,
}

#[derive(Debug, Clone, Copy)]
struct Period {
    from: u64,
    to: u64,
    state: State,
    cpu: u32,
    stolen: u64,
}

/// The kernel's count of slices, `count`, held from the last word before `at`.
#[derive(Debug, Clone, Copy)]
struct Count {
    at: u64,
    before: u64,
    after: u64,
}

/// A thread while it is listened to.
#[derive(Debug)]
pub struct Track {
    /// The thread.
    pub tid: i32,
    /// Its process.
    pub tgid: i32,
    born: bool,
    since: u64,
    state: After,
    cpu: u32,
    stolen_at: Option<u64>, // the CPU's account when it came; None: it was there before anybody looked
    started: u64,
    periods: Vec<Period>,
    counts: Vec<Count>,
    gaps: Vec<Gap>,
}

/// Where one thread's time went within an interval. The five times add up to `present_ns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadParts {
    /// The thread.
    pub tid: i32,
    /// Its process.
    pub tgid: i32,
    /// How much of the interval it lived, ns.
    pub present_ns: u64,
    /// Time in each `State`, in its order, ns.
    pub spent_ns: [u64; 5],
    /// Of its time on a CPU, what the hypervisor took, ns.
    pub stolen_ns: u64,
    /// Of its block-I/O wait: while a request of the chosen processes was in flight, ns.
    pub own_io_ns: u64,
    /// Times that it was traced being given a CPU.
    pub switch_ins: u64,
    /// Times that the kernel counted.
    pub slices: u64,
    /// Why its trace cannot be whole; `None` if nothing speaks against it.
    pub why: Option<String>,
}

impl Track {
    /// A thread that was born or first heard of at `at`.
    pub fn new(tid: i32, tgid: i32, at: u64, cpu: u32, state: After, slices: u64, born: bool) -> Self {
        Self {
            tid,
            tgid,
            born,
            since: at,
            state,
            cpu,
            stolen_at: None,
            started: at,
            periods: Vec::new(),
            counts: vec![Count { at, before: slices, after: slices }],
            gaps: Vec::new(),
        }
    }

    /// A thread that is first heard of when it is given a CPU.
    pub fn switched_in(tid: i32, tgid: i32, at: u64, cpu: u32, slices: u64, stolen: u64) -> Self {
        let mut track = Self::new(tid, tgid, at, cpu, After::OnCpu, slices, false);
        track.counts[0].after += 1;
        track.stolen_at = Some(stolen);
        track
    }

    /// It will never run again.
    pub fn ended(&self) -> bool {
        self.state == After::Ended
    }

    /// It is given a CPU for the (`slices` + 1)th time.
    pub fn switch_in(&mut self, at: u64, cpu: u32, slices: u64, stolen: u64) {
        if self.counts.last().is_some_and(|last| last.after != slices) {
            self.miscount(at);
        } else if self.state == After::OnCpu {
            self.gap(at, "a switch-out");
        } else if self.state != After::RunQueue {
            self.gap(at, "a wake-up");
        }
        self.change(at, After::OnCpu, cpu, stolen);
        self.counts.push(Count { at, before: slices, after: slices + 1 });
    }

    /// It leaves its CPU.
    pub fn switch_out(&mut self, at: u64, cpu: u32, after: After, stolen: u64) {
        if self.state != After::OnCpu {
            self.gap(at, "a switch-in");
        }
        self.change(at, after, cpu, stolen);
    }

    /// It is woken. On its CPU it never left, and there is nothing to note.
    pub fn wake(&mut self, at: u64) {
        if !matches!(self.state, After::OnCpu | After::RunQueue | After::Ended) {
            self.change(at, After::RunQueue, self.cpu, 0);
        }
    }

    /// It was looked at, its count before its state. A count that lags behind the events is old; else it has not
    /// come to a CPU since, and may only have stayed there.
    pub fn look(&mut self, at: u64, state: After, slices: u64) {
        let Some(last) = self.counts.last().copied() else { return };
        if slices > last.after {
            self.miscount(at);
        }
        if slices == last.after && self.state == After::OnCpu && state != After::OnCpu {
            self.gap(at, "a switch-out");
        }
        if slices >= last.after {
            self.counts.push(Count { at, before: slices, after: slices });
        }
    }

    /// The kernel counted a slice that was not traced, after its last word about it.
    fn miscount(&mut self, at: u64) {
        let agreed = self.counts.last().map_or(0, |last| last.at);
        self.gaps.push(Gap { from: self.since.max(agreed), to: at, why: "a switch-in" });
    }

    fn gap(&mut self, at: u64, why: &'static str) {
        self.gaps.push(Gap { from: self.since, to: at, why });
    }

    /// Two CPUs' clocks may differ a little: time does not run backwards here.
    fn change(&mut self, at: u64, state: After, cpu: u32, stolen: u64) {
        let at = at.max(self.since);
        if let Some(before) = state_of(self.state) {
            let came = self.stolen_at.take().filter(|_| self.state == After::OnCpu && cpu == self.cpu);
            let stolen = came.map_or(0, |came| stolen.saturating_sub(came));
            self.periods.push(Period { from: self.since, to: at, state: before, cpu: self.cpu, stolen });
        }
        if state == After::OnCpu {
            self.stolen_at = Some(stolen);
        }
        (self.since, self.state, self.cpu) = (at, state, cpu);
    }

    /// All periods, the one that lasts on until `end`.
    fn periods(&self, end: u64) -> impl Iterator<Item = Period> + '_ {
        let last = state_of(self.state).map(|state| Period {
            from: self.since,
            to: end.max(self.since),
            state,
            cpu: self.cpu,
            stolen: 0,
        });
        self.periods.iter().copied().chain(last)
    }

    /// When it waited for block I/O, and on which CPU it had run before, up to `end`.
    pub fn block_io(&self, end: u64) -> impl Iterator<Item = (u32, (u64, u64))> + '_ {
        self.periods(end).filter(|p| p.state == State::BlockIo).map(|p| (p.cpu, (p.from, p.to)))
    }

    /// Its time within `[from, to)`; `own` is when a request of the chosen processes was in flight.
    ///
    /// Stolen time is known per slice; of a slice that the interval cuts, a share.
    pub fn parts(&self, from: u64, to: u64, own: &Spans) -> ThreadParts {
        let mut spent_ns = [0; 5];
        let (mut present_ns, mut stolen_ns, mut waited) = (0, 0, Vec::new());
        for period in self.periods(to) {
            let (begin, end) = (period.from.max(from), period.to.min(to));
            if begin >= end {
                continue;
            }
            let part = end - begin;
            present_ns += part;
            spent_ns[period.state as usize] += part;
            stolen_ns += u128::from(period.stolen) * u128::from(part) / u128::from(period.to - period.from);
            if period.state == State::BlockIo {
                waited.push((begin, end));
            }
        }
        ThreadParts {
            tid: self.tid,
            tgid: self.tgid,
            present_ns,
            spent_ns,
            // A thread cannot lose more than it had.
            stolen_ns: u64::try_from(stolen_ns).unwrap_or(u64::MAX).min(spent_ns[State::OnCpu as usize]),
            own_io_ns: Spans::union(waited).and(own).total(),
            switch_ins: self
                .counts
                .iter()
                .filter(|c| c.after > c.before && (from..to).contains(&c.at))
                .count() as u64,
            slices: self.counted(to).saturating_sub(self.counted(from)),
            why: self.why(from, to),
        }
    }

    /// The kernel's count at `moment`: as the next word about it says, or the last.
    fn counted(&self, moment: u64) -> u64 {
        let next = self.counts.iter().find(|count| count.at >= moment);
        next.map_or_else(|| self.counts.last().map_or(0, |last| last.after), |next| next.before)
    }

    fn why(&self, from: u64, to: u64) -> Option<String> {
        if !self.born && self.started > from {
            return Some(format!("thread {} was not traced from the beginning", self.tid));
        }
        let gap = self.gaps.iter().find(|gap| gap.from < to && gap.to > from)?;
        Some(format!("thread {}: {} was not traced", self.tid, gap.why))
    }
}

fn state_of(after: After) -> Option<State> {
    match after {
        After::OnCpu => Some(State::OnCpu),
        After::RunQueue => Some(State::RunQueue),
        After::Sleep => Some(State::Sleep),
        After::BlockIo => Some(State::BlockIo),
        After::OtherWait => Some(State::OtherWait),
        After::Ended => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sleeps from 0, is woken at 10, runs 15–40 with 5 stolen, waits for the disk, is woken at 70, runs from 75.
    fn recorded() -> Track {
        let mut track = Track::new(1, 1, 0, 0, After::Sleep, 4, false);
        track.wake(10);
        track.switch_in(15, 0, 4, 100);
        track.switch_out(40, 0, After::BlockIo, 105);
        track.wake(70);
        track.switch_in(75, 1, 5, 7);
        track.look(100, After::OnCpu, 6);
        track
    }

    #[test]
    fn a_life_falls_into_its_parts() {
        let parts = recorded().parts(0, 100, &Spans::union(vec![(30, 60)]));
        assert_eq!(parts.spent_ns, [25 + 25, 5 + 5, 10, 30, 0]);
        assert_eq!((parts.stolen_ns, parts.own_io_ns, parts.present_ns), (5, 20, 100));
        assert_eq!((parts.switch_ins, parts.slices, parts.why), (2, 2, None));
    }

    #[test]
    fn nobody_knows_what_was_stolen_before_the_first_look() {
        let mut track = Track::new(1, 1, 0, 0, After::OnCpu, 4, false);
        track.switch_out(40, 0, After::Sleep, 1_000_000);
        assert_eq!(track.parts(0, 100, &Spans::default()).stolen_ns, 0);
    }

    #[test]
    fn an_interval_cuts_periods_and_the_slices_that_begin_in_it() {
        let parts = recorded().parts(20, 80, &Spans::default());
        assert_eq!(parts.spent_ns, [20 + 5, 5, 0, 30, 0]);
        assert_eq!((parts.switch_ins, parts.slices), (1, 1));
        assert_eq!(parts.stolen_ns, 4);
    }

    #[test]
    fn a_missed_slice_shows_in_the_kernels_count() {
        let mut track = recorded();
        track.switch_out(110, 1, After::Sleep, 7);
        track.wake(120);
        track.switch_in(130, 1, 8, 7);
        let parts = track.parts(0, 140, &Spans::default());
        assert_eq!((parts.switch_ins, parts.slices), (3, 5));
        assert_eq!(parts.why.as_deref(), Some("thread 1: a switch-in was not traced"));
        assert_eq!(track.parts(0, 100, &Spans::default()).why, None);
    }

    #[test]
    fn a_missed_slice_at_the_end_shows_in_the_last_look() {
        let mut track = recorded();
        track.look(200, After::OnCpu, 7);
        let parts = track.parts(0, 150, &Spans::default());
        assert!(parts.why.is_some());
        assert_eq!((parts.switch_ins, parts.slices), (2, 3));
        assert_eq!(track.parts(0, 100, &Spans::default()).why, None, "the look before it agreed");
    }

    #[test]
    fn a_look_that_lags_behind_is_old() {
        let mut track = recorded();
        track.look(101, After::Sleep, 5);
        assert_eq!(track.parts(0, 100, &Spans::default()).why, None);
    }

    #[test]
    fn impossible_changes_are_gaps() {
        for (act, missing) in [
            ((|t: &mut Track| t.switch_in(110, 1, 6, 0)) as fn(&mut Track), "a switch-out"),
            (
                |t| {
                    t.switch_out(110, 1, After::Sleep, 0);
                    t.switch_in(120, 1, 6, 0);
                },
                "a wake-up",
            ),
            (
                |t| {
                    t.switch_out(110, 1, After::RunQueue, 0);
                    t.switch_out(120, 1, After::Sleep, 0);
                },
                "a switch-in",
            ),
        ] {
            let mut track = recorded();
            act(&mut track);
            let why = track.parts(0, 200, &Spans::default()).why;
            assert_eq!(why, Some(format!("thread 1: {missing} was not traced")));
        }
    }

    #[test]
    fn who_was_first_heard_of_within_the_interval_was_not_followed_from_its_beginning() {
        let late = Track::switched_in(1, 1, 50, 0, 9, 0);
        assert!(late.parts(0, 100, &Spans::default()).why.is_some());
        assert!(late.parts(60, 100, &Spans::default()).why.is_none());
        let born = Track::new(1, 1, 50, 0, After::Sleep, 0, true);
        let parts = born.parts(0, 100, &Spans::default());
        assert_eq!((parts.why, parts.present_ns), (None, 50));
    }

    #[test]
    fn the_dead_spend_no_time() {
        let mut track = recorded();
        track.switch_out(90, 1, After::Ended, 7);
        assert!(track.ended());
        assert_eq!(track.parts(0, 100, &Spans::default()).present_ns, 90);
    }

    proptest! {
        #[test]
        fn parts_add_up_to_presence_whatever_happens(
            steps in proptest::collection::vec((0u8..5, 0u64..50, 0u32..2, 0u64..9), 0..60),
            cut in (0u64..1000, 0u64..1000),
        ) {
            let mut track = Track::new(1, 1, 0, 0, After::Sleep, 0, false);
            let (mut now, mut slices) = (0, 0);
            for (act, later, cpu, stolen) in steps {
                now += later;
                match act {
                    0 => { track.switch_in(now, cpu, slices, stolen); slices += 1; }
                    1 => track.switch_out(now, cpu, After::Sleep, stolen),
                    2 => track.switch_out(now, cpu, After::BlockIo, stolen),
                    3 => track.switch_out(now, cpu, After::RunQueue, stolen),
                    _ => track.wake(now),
                }
            }
            let (from, to) = (cut.0.min(cut.1), cut.0.max(cut.1));
            let parts = track.parts(from, to, &Spans::union(vec![(0, 300)]));
            prop_assert_eq!(parts.spent_ns.iter().sum::<u64>(), to - from);
            prop_assert_eq!(parts.present_ns, to - from);
            prop_assert!(parts.stolen_ns <= parts.spent_ns[0]);
            prop_assert!(parts.own_io_ns <= parts.spent_ns[3]);
        }

        #[test]
        fn a_faithful_trace_is_believed_and_one_lost_switch_is_not(
            slices in 2usize..20, lost in 0usize..20, wait in 1u64..50,
        ) {
            let lost = lost % slices;
            for lose in [false, true] {
                let mut track = Track::new(1, 1, 0, 0, After::Sleep, 0, false);
                let mut now = 0;
                for slice in 0..slices {
                    now += wait;
                    track.wake(now);
                    if !(lose && slice == lost) {
                        track.switch_in(now + 1, 0, slice as u64, 0);
                    }
                    now += wait;
                    track.switch_out(now + 1, 0, After::BlockIo, 0);
                }
                track.look(now + 9, After::BlockIo, slices as u64);
                let parts = track.parts(0, now + 9, &Spans::default());
                prop_assert_eq!(parts.why.is_some(), lose);
                prop_assert_eq!(parts.slices, slices as u64);
                prop_assert_eq!(parts.switch_ins, slices as u64 - u64::from(lose));
            }
        }
    }
}
