//! The calls of chosen stretches of a thread, one by one: what tools that draw a timeline want.

use std::collections::{BTreeMap, VecDeque};

use tare_rings::{Kind, Record};

use super::cursor::Cursor;
use super::stack::MAX_DEPTH;
use crate::Result;
use crate::backend::FunctionId;
use crate::recording::Recording;

/// A thread between two instants of CLOCK_MONOTONIC, ns: a transaction, if it was of that thread alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Process and thread.
    pub thread: (i32, i32),
    /// From.
    pub begin_ns: u64,
    /// To.
    pub end_ns: u64,
}

/// A call, or the part of it that lies within its stretch. Those of a thread nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Process and thread.
    pub thread: (i32, i32),
    /// Which function.
    pub function: FunctionId,
    /// CLOCK_MONOTONIC, ns.
    pub begin_ns: u64,
    /// The same.
    pub end_ns: u64,
    /// Recorded calls around it; 0: none.
    pub depth: u32,
}

/// Gives the calls of each stretch to `keep`, thread by thread and stretch by stretch; a caller comes before what it calls.
/// Stretches of one thread that overlap are one. No more than one stretch's calls are in memory.
pub fn slices(recording: &Recording, stretches: &[Stretch], mut keep: impl FnMut(Vec<Slice>)) -> Result<()> {
    let mut wanted: BTreeMap<(i32, i32), Vec<(u64, u64)>> = BTreeMap::new();
    for one in stretches {
        wanted.entry(one.thread).or_default().push((one.begin_ns, one.end_ns));
    }
    let line = recording.nanoseconds();
    for (thread, stretches) in wanted {
        let mut calls = Calls::new(thread, apart(stretches), &mut keep);
        let mut windows = Cursor::new(&recording.spans);
        let mut now = 0;
        recording.thread(thread, |record: Record| {
            let Some((span, first)) = windows.window(record.time) else { return };
            if first {
                calls.forget();
            }
            now = now.max(line.at(record.time));
            let function = record.subject();
            match record.kind() {
                // An entry whose exit this window does not record has no length.
                Some(Kind::Enter) if !span.entry_only.contains(&function) => calls.enter(function, now),
                Some(Kind::Exit | Kind::Cut) => calls.exit(function, now),
                Some(Kind::Lost) => calls.forget(),
                _ => {}
            }
        })?;
        calls.end();
    }
    Ok(())
}

/// In order, and none that overlaps another.
fn apart(mut stretches: Vec<(u64, u64)>) -> VecDeque<(u64, u64)> {
    stretches.sort_unstable();
    let mut found: VecDeque<(u64, u64)> = VecDeque::with_capacity(stretches.len());
    for (begin, end) in stretches {
        match found.back_mut() {
            Some(last) if begin < last.1 => last.1 = last.1.max(end),
            _ => found.push_back((begin, end)),
        }
    }
    found
}

/// A call that goes on.
struct Call {
    function: FunctionId,
    since: u64,
    /// Its place among the slices of the stretch that goes on.
    slice: Option<usize>,
}

struct Calls<'a, F> {
    thread: (i32, i32),
    /// That which goes on, if one does, and those to come.
    stretches: VecDeque<(u64, u64)>,
    goes_on: bool,
    open: Vec<Call>,
    /// Of the stretch that goes on; `None`: its end is not known.
    found: Vec<(Slice, Option<u64>)>,
    keep: &'a mut F,
}

impl<'a, F: FnMut(Vec<Slice>)> Calls<'a, F> {
    fn new(thread: (i32, i32), stretches: VecDeque<(u64, u64)>, keep: &'a mut F) -> Self {
        Self { thread, stretches, goes_on: false, open: Vec::new(), found: Vec::new(), keep }
    }

    fn enter(&mut self, function: FunctionId, now: u64) {
        self.reach(now, |begin| begin <= now);
        if self.open.len() < MAX_DEPTH {
            self.open.push(Call { function, since: now, slice: None });
            if self.goes_on {
                self.draw(self.open.len() - 1);
            }
        }
    }

    /// Calls above it, whose exits were not recorded, end with it.
    fn exit(&mut self, function: FunctionId, now: u64) {
        self.reach(now, |begin| begin < now);
        let Some(place) = self.open.iter().rposition(|open| open.function == function) else { return };
        for call in self.open.drain(place..) {
            if let Some(slice) = call.slice {
                self.found[slice].1 = Some(now);
            }
        }
    }

    /// Which calls go on is not known any more.
    fn forget(&mut self) {
        self.open.clear();
    }

    /// Stretches that are over by now are kept, and the next one begins if `begun` says so.
    fn reach(&mut self, now: u64, begun: impl Fn(u64) -> bool) {
        while let Some((begin, end)) = self.stretches.front().copied() {
            if !self.goes_on && begun(begin) {
                self.goes_on = true;
                (0..self.open.len()).for_each(|place| self.draw(place));
            }
            if !self.goes_on || end > now {
                return;
            }
            for call in &mut self.open {
                if let Some(slice) = call.slice.take() {
                    self.found[slice].1 = Some(end);
                }
            }
            self.end();
        }
    }

    /// A slice of the stretch for an open call.
    fn draw(&mut self, place: usize) {
        let call = &mut self.open[place];
        call.slice = Some(self.found.len());
        let begin_ns = call.since.max(self.stretches[0].0);
        let slice = Slice {
            thread: self.thread,
            function: call.function,
            begin_ns,
            end_ns: begin_ns,
            depth: place as u32,
        };
        self.found.push((slice, None));
    }

    /// The stretch is over.
    fn end(&mut self) {
        self.stretches.pop_front();
        self.goes_on = false;
        let ended = |(slice, end): (Slice, Option<u64>)| Some(Slice { end_ns: end?, ..slice });
        let found: Vec<_> = std::mem::take(&mut self.found).into_iter().filter_map(ended).collect();
        if !found.is_empty() {
            (self.keep)(found);
        }
    }
}
