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

/// Process of a stack that is no more.
const NOBODY: i32 = 0;

/// A stack of calls, by its place in `Frames::stacks`.
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
    /// Places in `stacks` whose stack is no more.
    free: Vec<StackId>,
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
    /// Hands an event's records on. `record`: the event as a record, with its call site where it is an entry.
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
                if record.kind() == Some(Kind::Enter) {
                    self.enter(stack, event, record, threads);
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
                    // Another thread may come back to it where contexts change hands.
                    if self.saved.is_empty() && self.moved.is_empty() {
                        self.release(home);
                    }
                }
            }
            Life::Replaced(pid) | Life::Ended(pid) => {
                self.named.retain(|(of, _), _| *of != pid);
                self.home.retain(|(of, _), _| *of != pid);
                self.moved.retain(|(of, _), _| *of != pid);
                self.saved.retain(|(of, _), _| *of != pid);
                let own = |(place, stack): (StackId, &Stack)| (stack.pid == pid).then_some(place);
                let all: Vec<StackId> = self.stacks.iter().enumerate().filter_map(own).collect();
                all.into_iter().for_each(|stack| self.release(stack));
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
            return self.named_stack(event.tgid, Name::Goroutine(event.goroutine));
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
            Some(_) => self.named_stack(event.tgid, Name::Area(area.map_or(0, |(_, to)| to))),
        }
    }

    fn named_stack(&mut self, pid: i32, name: Name) -> StackId {
        if let Some(stack) = self.named.get(&(pid, name)) {
            return *stack;
        }
        let stack = self.add(pid, None);
        self.named.insert((pid, name), stack);
        stack
    }

    fn add(&mut self, pid: i32, tid: Option<i32>) -> StackId {
        let number = tid.unwrap_or_else(|| {
            self.others += 1;
            FIRST_OTHER + self.others
        });
        let stack = Stack { pid, number, frames: Vec::new() };
        if let Some(place) = self.free.pop() {
            self.stacks[place] = stack;
            return place;
        }
        self.stacks.push(stack);
        self.stacks.len() - 1
    }

    /// Its place is another's next.
    fn release(&mut self, stack: StackId) {
        self.stacks[stack] = Stack { pid: NOBODY, number: 0, frames: Vec::new() };
        self.free.push(stack);
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

    /// What is as deep or deeper on its stack was left before.
    fn enter(&mut self, stack: StackId, event: &Event, record: Record, threads: &mut Threads) {
        let function = record.subject();
        self.cut(stack, event.time, 0, threads, |frame| frame.sp <= event.sp);
        if self.followed.contains(&function) {
            self.stacks[stack].frames.push(Frame { function, sp: event.sp });
        }
    }

    /// Whether there is anything more to say of the exit.
    fn exit(&mut self, stack: StackId, at: Frame, event: &Event, threads: &mut Threads) -> bool {
        let found = |stack: &Stack| stack.frames.iter().rposition(|frame| *frame == at);
        let (stack, place) = match found(&self.stacks[stack]) {
            Some(place) => (stack, place),
            None => {
                // A goroutine's frames are on no other stack, and others have frames of theirs at the same depth.
                let elsewhere = |(id, stack): (StackId, &Stack)| {
                    let same = event.goroutine == 0 && stack.pid == event.tgid && !stack.frames.is_empty();
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

#[cfg(test)]
mod tests {
    use super::super::cookie::ID_BITS;
    use super::*;

    const PID: i32 = 1 << 22; // none that runs, so that nothing is known of its memory

    /// Events of functions 1 and 2, both followed.
    #[derive(Default)]
    struct Bed {
        frames: Frames,
        threads: Threads,
        time: u64,
        /// On which events happen; 0: none.
        goroutine: u64,
    }

    impl Bed {
        fn new() -> Self {
            let mut bed = Self::default();
            bed.frames.follow([1, 2].into());
            bed
        }

        fn event(&mut self, tid: i32, kind: u32, subject: u32, sp: u64, value: u64) {
            self.time += 1;
            let word = kind << ID_BITS | subject;
            let goroutine = self.goroutine;
            let event =
                Event { time: self.time, value, sp, goroutine, tgid: PID, tid, word, ..Event::default() };
            let record = match kind {
                kind::ENTER_FROM => Record::new(self.time, Kind::Enter, subject, 7),
                _ => Record { time: self.time, word, detail: value as u32 },
            };
            self.frames.take(&event, record, &mut self.threads);
        }

        fn enter(&mut self, tid: i32, function: u32, sp: u64) {
            self.event(tid, kind::ENTER_FROM, function, sp, 0);
        }

        fn exit(&mut self, tid: i32, function: u32, sp: u64) {
            self.event(tid, kind::EXIT_AT, function, sp, sp);
        }

        fn heed(&mut self, life: Life) {
            self.time += 1;
            self.frames.heed(self.time, life, &mut self.threads);
        }

        /// Of each stream its number and what happened: 1 an entry of function 1, -1 its exit, -10 its cut, -11 one at
        /// a time that is known.
        fn told(&self) -> Vec<(i32, Vec<i64>)> {
            let sign = |record: &Record| {
                let function = i64::from(record.subject());
                match record.kind() {
                    Some(Kind::Enter) => function,
                    Some(Kind::Exit) => -function,
                    Some(Kind::Cut) => -10 * function - i64::from(record.detail),
                    other => panic!("{other:?}"),
                }
            };
            let all = self.threads.list.iter();
            all.map(|thread| (thread.tid, thread.records.iter().map(sign).collect())).collect()
        }
    }

    #[test]
    fn a_frame_that_is_passed_by_was_left() {
        let mut bed = Bed::new();
        bed.enter(5, 1, 0x900);
        bed.enter(5, 2, 0x800);
        bed.exit(5, 1, 0x900);
        bed.enter(5, 1, 0x900);
        bed.enter(5, 2, 0x900);
        assert_eq!(bed.told(), [(5, vec![1, 2, -20, -1, 1, -10, 2])]);
    }

    #[test]
    fn a_caught_exception_and_the_end_of_a_thread_tell_when_frames_were_left() {
        let mut bed = Bed::new();
        bed.enter(5, 1, 0x900);
        bed.enter(5, 2, 0x800);
        bed.event(5, kind::LANDING, 0, 0x880, 0);
        bed.heed(Life::ThreadEnded { pid: PID, tid: 5 });
        assert_eq!(bed.told(), [(5, vec![1, 2, -21, -11])]);
    }

    #[test]
    fn coroutines_side_by_side_have_streams_of_their_own_and_may_change_threads() {
        let mut bed = Bed::new();
        bed.enter(5, 1, 0x900);
        bed.event(5, kind::SWITCH, 1, 0x880, 0x500);
        bed.enter(5, 2, 0x400);
        bed.event(5, kind::SWITCH, 1, 0x380, 0x880);
        bed.exit(5, 1, 0x900);
        bed.event(6, kind::SWITCH, 1, 0x1000, 0x380);
        bed.exit(6, 2, 0x400);
        assert_eq!(bed.told(), [(5, vec![1, -1]), (FIRST_OTHER + 1, vec![2, -2])]);
    }

    #[test]
    fn a_goroutine_ends_its_own_call_on_any_thread_and_no_other_goroutines_at_the_same_depth() {
        let mut bed = Bed::new();
        bed.goroutine = 0xa00;
        bed.enter(5, 1, 0x900);
        bed.goroutine = 0xb00;
        bed.exit(5, 1, 0x900); // its entry was before the probes
        bed.enter(6, 1, 0x900);
        bed.goroutine = 0xa00;
        bed.exit(6, 1, 0x900);
        bed.goroutine = 0xb00;
        bed.exit(5, 1, 0x900);
        assert_eq!(bed.told(), [(FIRST_OTHER + 1, vec![1, -1]), (FIRST_OTHER + 2, vec![-1, 1, -1])]);
    }

    #[test]
    fn what_may_be_a_jump_within_a_function_is_no_exit() {
        let mut bed = Bed::new();
        bed.enter(5, 1, 0x900);
        bed.event(5, kind::TAIL_AT, 1, 0x880, 0x880);
        bed.event(5, kind::TAIL_AT, 1, 0x900, 0x900);
        assert_eq!(bed.told(), [(5, vec![1, -1])]);
    }

    #[test]
    fn places_of_stacks_that_are_no_more_are_used_again_each_by_one() {
        let mut bed = Bed::new();
        for tid in 5..8 {
            bed.enter(tid, 1, 0x900);
        }
        bed.heed(Life::ThreadEnded { pid: PID, tid: 5 });
        bed.heed(Life::Ended(PID));
        for tid in 15..18 {
            bed.enter(tid, 2, 0x900);
            bed.exit(tid, 2, 0x900);
        }
        assert_eq!(bed.frames.stacks.len(), 3);
        assert!(bed.frames.free.is_empty());
        assert_eq!(bed.told()[3..], [(15, vec![2, -2]), (16, vec![2, -2]), (17, vec![2, -2])]);
    }
}
