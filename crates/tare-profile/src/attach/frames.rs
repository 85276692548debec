//! Which call an exit belongs to: by its function and the place of its return address, which no other frame has at the
//! same time. That holds across coroutines, alternate signal stacks, exceptions, longjmp and goroutines, whose stacks
//! are left and come back to in any order.
//!
//! Calls nest on one stack, not in one thread. Each stack has a stream of records of its own; the stack on which a
//! thread was first seen has the thread's number, others have numbers that no thread has.

use std::collections::{HashMap, HashSet};

use tare_rings::{Kind, Record};

use super::areas::Areas;
use super::event::{Event, kind};
use super::message::Life;
use super::stream::Threads;
use crate::backend::FunctionId;

/// First number of a stack that is not a thread's own: above the greatest that Linux gives to a thread.
const FIRST_OTHER: i32 = 1 << 23;
/// Most stacks that are remembered as left; a program with more has lost track of them itself.
const MOST_SAVED: usize = 1 << 16;

/// Detail of a `Cut`: its time is that at which the frame was left, not only that at which this was noticed.
const EXACT: u32 = 1;

/// A stack of calls.
type StackId = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    function: FunctionId,
    sp: u64,
}

#[derive(Debug)]
struct Stack {
    pid: i32,
    /// Number of its stream.
    number: i32,
    frames: Vec<Frame>,
}

/// What identifies a stack at the first sight of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    /// A thread's memory, by its upper end.
    Area(u64),
    Goroutine(u64),
}

/// Open frames of all stacks.
#[derive(Debug, Default)]
pub(super) struct Frames {
    stacks: Vec<Stack>,
    named: HashMap<(i32, Name), StackId>,
    /// Stack that a thread was first seen on, and the memory that it lies in.
    home: HashMap<(i32, i32), (StackId, (u64, u64))>,
    /// Where a thread is that left its stack by a change of context.
    moved: HashMap<(i32, i32), StackId>,
    /// Stacks that were left so, by the place to which they will be come back to.
    saved: HashMap<(i32, u64), StackId>,
    /// Functions whose exits are watched.
    followed: HashSet<FunctionId>,
    others: i32,
    areas: Areas,
}

impl Frames {
    /// Hands an event's records on. `site`: of an entry, the detail of its record.
    pub(super) fn take(&mut self, event: &Event, record: Record, threads: &mut Threads) {
        let stack = self.stack_of(event);
        let Stack { pid, number, .. } = self.stacks[stack];
        if event.lost > 0 {
            // Which of its frames are still open nobody knows.
            self.stacks[stack].frames.clear();
            threads.of(pid, number).push(Record::new(event.time, Kind::Lost, 0, event.lost));
        }
        let function = record.subject();
        match event.word >> super::cookie::ID_BITS {
            kind::SWITCH => {
                self.switch(event, stack, record.subject() != 0);
                return;
            }
            kind::LANDING => {
                self.cut(stack, event.time, EXACT, threads, |frame| frame.sp <= event.sp);
                return;
            }
            kind::EXIT_AT | kind::TAIL_AT => {
                let at = Frame { function, sp: event.value };
                if !self.exit(stack, at, event, threads) {
                    return;
                }
            }
            _ => {
                match record.kind() {
                    Some(Kind::Enter) => self.enter(stack, event, record, threads),
                    Some(Kind::Exit) => self.returned(stack, function, event.time, threads),
                    _ => {}
                }
                threads.of(pid, number).push(record);
            }
        }
        if event.cpu > 0 && self.home.get(&(event.tgid, event.tid)).is_some_and(|(home, _)| *home == stack) {
            threads.of(pid, number).push(Record::with_id(event.time, Kind::Cpu, event.cpu));
        }
    }

    /// What became of a process or thread.
    pub(super) fn heed(&mut self, time: u64, life: Life, threads: &mut Threads) {
        match life {
            Life::ThreadEnded { pid, tid } => {
                self.moved.remove(&(pid, tid));
                if let Some((home, _)) = self.home.remove(&(pid, tid)) {
                    self.cut(home, time, EXACT, threads, |_| true);
                    self.named.retain(|_, stack| *stack != home);
                }
            }
            Life::Replaced(pid) | Life::Ended(pid) => {
                self.named.retain(|(of, _), _| *of != pid);
                self.home.retain(|(of, _), _| *of != pid);
                self.moved.retain(|(of, _), _| *of != pid);
                self.saved.retain(|(of, _), _| *of != pid);
                self.areas.forget(pid);
            }
            Life::Forked { .. } => {}
        }
    }

    /// Other probes are on, with exits of these functions: frames that were open may end unseen.
    pub(super) fn follow(&mut self, functions: HashSet<FunctionId>) {
        self.followed = functions;
        self.stacks.iter_mut().for_each(|stack| stack.frames.clear());
    }

    fn stack_of(&mut self, event: &Event) -> StackId {
        let thread = (event.tgid, event.tid);
        if event.goroutine != 0 {
            return self.named_stack(event.tgid, Name::Goroutine(event.goroutine), None);
        }
        if let Some(stack) = self.moved.get(&thread) {
            return *stack;
        }
        if let Some((home, (from, to))) = self.home.get(&thread)
            && (*from..*to).contains(&event.sp)
        {
            return *home;
        }
        let area = self.areas.find(event.tgid, event.sp);
        match self.home.get_mut(&thread) {
            None => {
                let stack = self.add(event.tgid, Some(event.tid));
                let (from, to) = area.unwrap_or((event.sp, event.sp + 1));
                self.home.insert(thread, (stack, (from, to)));
                stack
            }
            // It has grown, or nothing is known of it.
            Some((home, known)) if area.is_none_or(|(_, to)| to == known.1) => {
                known.0 = known.0.min(area.map_or(event.sp, |(from, _)| from));
                *home
            }
            Some(_) => self.named_stack(event.tgid, Name::Area(area.map_or(0, |(_, to)| to)), None),
        }
    }

    fn named_stack(&mut self, pid: i32, name: Name, tid: Option<i32>) -> StackId {
        if let Some(stack) = self.named.get(&(pid, name)) {
            return *stack;
        }
        let stack = self.add(pid, tid);
        self.named.insert((pid, name), stack);
        stack
    }

    fn add(&mut self, pid: i32, tid: Option<i32>) -> StackId {
        let number = tid.unwrap_or_else(|| {
            self.others += 1;
            FIRST_OTHER + self.others
        });
        self.stacks.push(Stack { pid, number, frames: Vec::new() });
        self.stacks.len() - 1
    }

    /// The thread goes on at another context, of a stack that was left before or is new.
    fn switch(&mut self, event: &Event, stack: StackId, comes_back: bool) {
        if self.saved.len() >= MOST_SAVED {
            self.saved.clear();
        }
        if comes_back {
            self.saved.insert((event.tgid, event.sp), stack);
        }
        let to = match self.saved.remove(&(event.tgid, event.value)) {
            Some(stack) => stack,
            None => self.add(event.tgid, None),
        };
        self.moved.insert((event.tgid, event.tid), to);
    }

    /// What is as deep or deeper on its stack was left before; but for a function that jumped to this one with its return
    /// watched: then the return address is the kernel's, and the site 0.
    fn enter(&mut self, stack: StackId, event: &Event, record: Record, threads: &mut Threads) {
        let function = record.subject();
        let jumped = event.word >> super::cookie::ID_BITS == kind::ENTER_FROM && record.detail == 0;
        self.cut(stack, event.time, 0, threads, |frame| {
            frame.sp < event.sp || frame.sp == event.sp && (!jumped || frame.function == function)
        });
        if self.followed.contains(&function) {
            self.stacks[stack].frames.push(Frame { function, sp: event.sp });
        }
    }

    /// A return that was seen by its function alone: the innermost call of it is over, and with it those inside.
    fn returned(&mut self, stack: StackId, function: FunctionId, time: u64, threads: &mut Threads) {
        let open = self.stacks[stack].frames.iter().rposition(|frame| frame.function == function);
        if let Some(place) = open {
            self.cut_above(stack, place, time, threads);
            self.stacks[stack].frames.pop();
        }
    }

    /// Whether there is anything more to say of the exit.
    fn exit(&mut self, stack: StackId, at: Frame, event: &Event, threads: &mut Threads) -> bool {
        let found = |stack: &Stack| stack.frames.iter().rposition(|frame| *frame == at);
        let (stack, place) = match found(&self.stacks[stack]) {
            Some(place) => (stack, place),
            None => {
                let elsewhere = |(id, stack): (StackId, &Stack)| {
                    let same = stack.pid == event.tgid && !stack.frames.is_empty();
                    Some((id, found(stack).filter(|_| same)?))
                };
                match self.stacks.iter().enumerate().find_map(elsewhere) {
                    Some(found) => found,
                    None => {
                        // It had begun before; what seems a tail call may be a jump within its function.
                        if event.word >> super::cookie::ID_BITS == kind::EXIT_AT {
                            let Stack { pid, number, .. } = self.stacks[stack];
                            let exit = Record::new(event.time, Kind::Exit, at.function, 0);
                            threads.of(pid, number).push(exit);
                            return true;
                        }
                        return false;
                    }
                }
            }
        };
        self.cut_above(stack, place, event.time, threads);
        self.stacks[stack].frames.pop();
        let Stack { pid, number, .. } = self.stacks[stack];
        threads.of(pid, number).push(Record::new(event.time, Kind::Exit, at.function, 0));
        true
    }

    /// Frames above this one were left unseen.
    fn cut_above(&mut self, stack: StackId, place: usize, time: u64, threads: &mut Threads) {
        while self.stacks[stack].frames.len() > place + 1 {
            self.cut_top(stack, time, 0, threads);
        }
    }

    /// Frames at the top of which this holds were left.
    fn cut(
        &mut self,
        stack: StackId,
        time: u64,
        exact: u32,
        threads: &mut Threads,
        gone: impl Fn(&Frame) -> bool,
    ) {
        while self.stacks[stack].frames.last().is_some_and(&gone) {
            self.cut_top(stack, time, exact, threads);
        }
    }

    fn cut_top(&mut self, stack: StackId, time: u64, exact: u32, threads: &mut Threads) {
        let Stack { pid, number, .. } = self.stacks[stack];
        if let Some(frame) = self.stacks[stack].frames.pop() {
            threads.of(pid, number).push(Record::new(time, Kind::Cut, frame.function, exact));
        }
    }
}
