//! One thread's records after another.

use std::collections::HashSet;
use std::mem;

use tare_rings::{Kind, Record};

use super::join::{Joining, Piece, Reached, Silence};
use super::labels::{self, Labels};
use super::order::ordered;
use super::paths::Paths;
use super::roles::{Roles, Words};
use super::stack::{Left, NOBODY, Owner, Stack};
use super::sums::Sums;
use super::transaction::{Open, Raw};
use crate::Result;
use crate::backend::FunctionId;
use crate::profile::{Cell, Profile, Why};
use crate::recording::{Nanoseconds, Recording, Span};
use crate::rules::Rules;

/// All that is put together from a recording, so far.
pub(super) struct Assembly<'a> {
    recording: &'a Recording,
    pub(super) rules: &'a Rules,
    pub(super) words: Words,
    pub(super) labels: Labels,
    line: Nanoseconds,
    roles: Vec<Roles>, // by window
    edges: Vec<u64>,   // ticks at which it becomes unknown what threads did: both ends of each gap
    pub(super) paths: Paths,
    pub(super) sums: Sums,
    pub(super) done: Vec<Raw>,
    cells: Vec<Cell>,
    pub(super) joining: Joining,
    records: u64,
    lost: u64,
    unwound: u64,
}

/// Where one thread is.
pub(super) struct Thread {
    pub(super) id: (i32, i32),
    pub(super) now: u64,
    /// `now` of the record before.
    pub(super) before: u64,
    pub(super) stack: Stack,
    pub(super) open: Option<Open>,
    /// Why nobody knows whether it is in mid-transaction; `None`: it is known.
    pub(super) doubt: Option<Why>,
    /// The first of its transactions that were told from each other in doubt.
    pub(super) doubtful: usize,
    /// Whether a transaction goes on over calls of the root.
    pub(super) opened: bool,
    /// The running interval is over when the stack is less deep than this.
    pub(super) floor: usize,
    pub(super) owners: Owner,
    window: usize, // the one that it is in, or comes to
    inside: bool,
    edge: usize,
    look_up: u64, // ticks from which window and edges are to be looked at
    awaiting: Awaiting,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Returned,
    /// By an exception or the like; nobody knows when.
    Unwound,
    /// The same, at the time of its record.
    UnwoundNow,
}

/// What the CPU time is of that the next record may tell.
#[derive(Debug, Clone, Copy)]
enum Awaiting {
    Nothing,
    /// Of the beginning of a transaction, or of an annotation's interval.
    Began,
    /// Of its end; with the reading at its beginning.
    Done(u64),
    Joining(Option<u64>),
}

impl Thread {
    pub(super) fn new(id: (i32, i32)) -> Self {
        Self {
            id,
            now: 0,
            before: 0,
            stack: Stack::default(),
            open: None,
            doubt: None,
            doubtful: 0,
            opened: false,
            floor: 0,
            owners: NOBODY,
            window: 0,
            inside: false,
            edge: 0,
            look_up: 0,
            awaiting: Awaiting::Nothing,
        }
    }

    pub(super) fn running(&self) -> bool {
        self.open.as_ref().is_some_and(Open::running)
    }

    /// From here on nobody knows what it does.
    fn doubt(&mut self, why: Why, doubtful: usize) {
        self.stack.clear();
        (self.doubt, self.doubtful, self.opened, self.floor) = (Some(why), doubtful, false, 0);
    }
}

impl<'a> Assembly<'a> {
    pub(super) fn new(recording: &'a Recording, rules: &'a Rules, labels: Labels) -> Self {
        Self {
            rules,
            words: Words::new(rules),
            labels,
            line: recording.nanoseconds(),
            roles: recording.spans.iter().map(|span| Roles::new(span, rules)).collect(),
            edges: edges(recording),
            paths: Paths::new(),
            sums: Sums::default(),
            done: Vec::new(),
            cells: Vec::new(),
            joining: Joining::default(),
            records: 0,
            lost: recording.gaps.iter().map(|gap| gap.lost).sum(),
            unwound: 0,
            recording,
        }
    }

    #[inline]
    pub(super) fn take(&mut self, thread: &mut Thread, record: Record) {
        self.records += 1;
        let Some(kind) = record.kind() else { return };
        if kind == Kind::Cpu {
            self.cpu(thread, record.id());
            return;
        }
        thread.awaiting = Awaiting::Nothing;
        if record.time >= thread.look_up {
            self.look_up(thread, record.time);
        }
        if kind == Kind::Lost {
            self.lost(thread, record);
            return;
        }
        if !thread.inside {
            return;
        }
        thread.before = thread.now;
        thread.now = thread.now.max(self.line.at(record.time));
        match kind {
            Kind::Enter => self.entered(thread, record.subject(), record.detail),
            Kind::Exit => self.left(thread, record.subject(), Way::Returned),
            Kind::Cut if record.detail == 0 => self.left(thread, record.subject(), Way::Unwound),
            Kind::Cut => self.left(thread, record.subject(), Way::UnwoundNow),
            Kind::Begin | Kind::Suspend | Kind::Resume | Kind::End => {
                if *self.rules == Rules::Annotation {
                    self.mark(thread, kind, record.id());
                }
            }
            Kind::Label => self.label(thread, record.subject(), record.detail),
            Kind::Cpu | Kind::Lost => unreachable!("seen above"),
        }
    }

    #[inline]
    fn entered(&mut self, thread: &mut Thread, function: FunctionId, detail: u32) {
        match self.roles[thread.window].of(function) {
            0 => self.enter(thread, function, detail),
            role => self.enter_special(thread, function, detail, role),
        }
    }

    #[inline]
    pub(super) fn enter(&mut self, thread: &mut Thread, function: FunctionId, site: u32) {
        if !thread.stack.enter(function, site, thread.now, &mut self.paths, &mut self.sums) {
            self.interrupt(thread, Why::Deep);
        }
    }

    #[inline]
    fn left(&mut self, thread: &mut Thread, function: FunctionId, way: Way) {
        let left = thread.stack.exit(function, thread.now, &mut self.sums);
        if thread.stack.depth() < thread.floor || way != Way::Returned || left == Left::Nothing {
            self.left_special(thread, function, way, left);
        }
    }

    /// The window's end, the next one's beginning, and gaps.
    #[cold]
    fn look_up(&mut self, thread: &mut Thread, ticks: u64) {
        while let Some(edge) = self.edges.get(thread.edge).filter(|edge| **edge <= ticks) {
            let in_window = thread.inside && self.recording.spans[thread.window].end > *edge;
            thread.edge += 1;
            if in_window {
                self.interrupt(thread, Why::Lost);
            }
        }
        while let Some(span) = self.recording.spans.get(thread.window) {
            if thread.inside && ticks >= span.end {
                self.interrupt(thread, Why::Changed);
                thread.inside = false;
                thread.window += 1;
            } else if !thread.inside && ticks >= span.end {
                thread.window += 1;
            } else if !thread.inside && ticks >= span.begin {
                thread.inside = true;
                thread.doubt(Why::Unfinished, self.done.len());
            } else {
                break;
            }
        }
        let next = |span: &Span| if thread.inside { span.end } else { span.begin };
        let window = self.recording.spans.get(thread.window).map_or(u64::MAX, next);
        thread.look_up = self.edges.get(thread.edge).map_or(window, |edge| window.min(*edge));
    }

    fn lost(&mut self, thread: &mut Thread, record: Record) {
        self.lost += u64::from(record.detail);
        let before = thread.now;
        thread.now = thread.now.max(self.line.at(record.time));
        self.joining.silent(Silence { pid: Some(thread.id.0), from: before, to: thread.now });
        if thread.inside {
            let now = mem::replace(&mut thread.now, before);
            self.interrupt(thread, Why::Lost); // it ends where it was last seen
            thread.now = now;
        }
    }

    /// What the thread does is not known any more; its open transaction ends here, invalid.
    pub(super) fn interrupt(&mut self, thread: &mut Thread, why: Why) {
        if let Some(open) = &mut thread.open {
            open.speaks_against(why);
            self.close(thread, Reached::Nothing);
        }
        thread.awaiting = Awaiting::Nothing;
        thread.doubt(why, self.done.len());
    }

    pub(super) fn window(&self, thread: &Thread) -> u32 {
        self.recording.spans[thread.window].window.number
    }

    pub(super) fn role(&self, thread: &Thread, function: FunctionId) -> u8 {
        self.roles[thread.window].of(function)
    }

    pub(super) fn begin(&mut self, thread: &mut Thread, owner: Owner) {
        let window = self.window(thread);
        let mut open = Open::begin(owner, window, thread.now, &mut thread.stack, &mut self.sums);
        if let (Some(why), Rules::State { .. }) = (thread.doubt, self.rules) {
            open.speaks_against(why);
        }
        if thread.edge % 2 == 1 {
            open.speaks_against(Why::Lost); // between both ends of a gap
        }
        thread.open = Some(open);
        thread.awaiting = Awaiting::Began;
    }

    pub(super) fn resume(&mut self, thread: &mut Thread) {
        let Some(open) = thread.open.as_mut().filter(|open| !open.running()) else { return };
        open.resume(thread.now, &mut thread.stack, &mut self.sums);
    }

    pub(super) fn pause(&mut self, thread: &mut Thread) {
        let Some(open) = thread.open.as_mut().filter(|open| open.running()) else { return };
        open.pause(thread.now, &mut thread.stack, &mut self.sums);
        thread.floor = 0;
    }

    /// Its transaction is over; under annotation, its interval, which reached that mark.
    pub(super) fn close(&mut self, thread: &mut Thread, reached: Reached) {
        let Some(mut open) = thread.open.take() else { return };
        let cpu = open.cpu_before();
        open.pause(thread.now, &mut thread.stack, &mut self.sums);
        thread.floor = 0;
        let (owner, begun, ended) = (open.owner, open.begun, reached == Reached::End);
        if *self.rules == Rules::Annotation {
            let raw = open.close(thread.id, 0, ended, &mut self.sums, &mut self.cells);
            self.joining.add(Piece { owner, begun, reached, raw });
            thread.awaiting = Awaiting::Joining(cpu);
            if reached == Reached::End {
                thread.stack.disown(owner);
            }
        } else {
            thread.stack.disown(owner);
            let raw = open.close(thread.id, self.done.len(), ended, &mut self.sums, &mut self.cells);
            self.done.push(raw);
            thread.awaiting = cpu.map_or(Awaiting::Nothing, Awaiting::Done);
        }
    }

    fn cpu(&mut self, thread: &mut Thread, cpu: u64) {
        match mem::replace(&mut thread.awaiting, Awaiting::Nothing) {
            Awaiting::Nothing => {}
            Awaiting::Began => {
                if let Some(open) = &mut thread.open {
                    open.cpu_began(cpu);
                }
            }
            Awaiting::Done(before) => {
                if let Some(raw) = self.done.last_mut() {
                    raw.transaction.cpu_ns = Some(cpu.saturating_sub(before));
                }
            }
            Awaiting::Joining(before) => {
                self.joining.cpu(before.map(|before| cpu.saturating_sub(before)));
            }
        }
    }

    /// The thread has no more records.
    pub(super) fn end(&mut self, mut thread: Thread) {
        if thread.inside {
            let span = &self.recording.spans[thread.window];
            let last = thread.window + 1 == self.recording.spans.len();
            let gap = self.edges.get(thread.edge).is_some_and(|edge| *edge < span.end);
            let why = match (gap, last) {
                (true, _) => Why::Lost,
                (false, true) => Why::Unfinished,
                (false, false) => Why::Changed,
            };
            self.interrupt(&mut thread, why);
        }
        self.unwound += thread.stack.unwound;
    }

    pub(super) fn finish(mut self) -> Result<Profile> {
        if *self.rules == Rules::Annotation {
            for gap in &self.recording.gaps {
                let (from, to) = (self.line.at(gap.from), self.line.at(gap.to));
                self.joining.silent(Silence { pid: None, from, to });
            }
            let last = self.recording.spans.last().map_or(0, |span| span.window.number);
            (self.done, self.cells) = self.joining.finish(last, &mut self.sums, &self.cells);
        }
        let (transactions, cells) = ordered(self.done, &self.cells);
        let used: HashSet<u32> =
            transactions.iter().map(|one| one.label).filter(|label| *label != 0).collect();
        Ok(Profile {
            transactions,
            paths: self.paths.into_list(),
            cells,
            texts: labels::names(self.recording, &used)?,
            windows: self.recording.spans.iter().map(|span| span.window.clone()).collect(),
            records: self.records,
            lost: self.lost,
            unwound: self.unwound,
            unrecorded: self.recording.spans.iter().map(|span| span.window.unrecorded).sum(),
        })
    }
}

/// Both ends of each gap; those that touch are one.
fn edges(recording: &Recording) -> Vec<u64> {
    let mut gaps: Vec<(u64, u64)> =
        recording.gaps.iter().map(|gap| (gap.from, gap.to.max(gap.from))).collect();
    gaps.sort_unstable();
    let mut edges: Vec<u64> = Vec::with_capacity(2 * gaps.len());
    for (from, to) in gaps {
        match edges.last_mut() {
            Some(last) if from <= *last => *last = to.max(*last),
            _ => edges.extend([from, to]),
        }
    }
    edges
}
