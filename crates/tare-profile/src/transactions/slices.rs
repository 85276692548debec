//! The calls of chosen stretches of a thread, one by one: what tools that draw a timeline want.

use std::collections::{BTreeMap, HashSet};

use tare_rings::{Kind, Record};

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

/// The calls of these stretches, thread by thread, each thread's in the order of their ends.
pub fn slices(recording: &Recording, stretches: &[Stretch]) -> Result<Vec<Slice>> {
    let mut wanted: BTreeMap<(i32, i32), Vec<(u64, u64)>> = BTreeMap::new();
    for one in stretches {
        wanted.entry(one.thread).or_default().push((one.begin_ns, one.end_ns));
    }
    let line = recording.nanoseconds();
    // An entry whose exit is not recorded has no length.
    let lengthless: HashSet<FunctionId> =
        recording.spans.iter().flat_map(|span| span.entry_only.iter().copied()).collect();
    let mut found = Vec::new();
    for (thread, mut stretches) in wanted {
        stretches.sort_unstable();
        let mut calls = Calls { thread, stretches, open: Vec::new(), found: &mut found };
        let mut now = 0;
        recording.thread(thread, |record: Record| {
            now = now.max(line.at(record.time));
            let function = record.subject();
            match record.kind() {
                Some(Kind::Enter) if !lengthless.contains(&function) => calls.enter(function, now),
                Some(Kind::Exit | Kind::Cut) => calls.exit(function, now),
                Some(Kind::Lost) => calls.open.clear(),
                _ => {}
            }
        })?;
    }
    Ok(found)
}

struct Calls<'a> {
    thread: (i32, i32),
    /// By their beginnings.
    stretches: Vec<(u64, u64)>,
    open: Vec<(FunctionId, u64)>,
    found: &'a mut Vec<Slice>,
}

impl Calls<'_> {
    fn enter(&mut self, function: FunctionId, now: u64) {
        if self.open.len() < MAX_DEPTH {
            self.open.push((function, now));
        }
    }

    /// Calls above it, whose exits were not recorded, end with it.
    fn exit(&mut self, function: FunctionId, now: u64) {
        let Some(place) = self.open.iter().rposition(|(open, _)| *open == function) else { return };
        while self.open.len() > place {
            let (function, since) = self.open.pop().expect("longer than `place`");
            self.keep(function, since, now);
        }
    }

    fn keep(&mut self, function: FunctionId, since: u64, now: u64) {
        let first = self.stretches.partition_point(|(_, end)| *end <= since);
        for (begin, end) in self.stretches[first..].iter().take_while(|(begin, _)| *begin < now) {
            self.found.push(Slice {
                thread: self.thread,
                function,
                begin_ns: since.max(*begin),
                end_ns: now.min(*end),
                depth: self.open.len() as u32,
            });
        }
    }
}
