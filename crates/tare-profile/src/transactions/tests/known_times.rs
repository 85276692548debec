//! Random programs whose times are known: they are added up as the program runs, not taken from entries and exits.

use std::collections::{BTreeMap, HashMap};

use proptest::collection::vec;
use proptest::prelude::*;
use tare_rings::{Kind, Record};

use super::told::*;
use crate::backend::{FunctionId, ThreadRecords};
use crate::profile::Why;
use crate::rules::Rules;

#[derive(Debug, Clone)]
enum Step {
    Work(u64),
    Call(FunctionId, Vec<Step>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let work = || (0..50u64).prop_map(Step::Work);
    let step = work().prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            work(),
            (2..6u32, vec(inner, 0..5)).prop_map(|(function, body)| Step::Call(function, body))
        ]
    });
    vec(step, 0..6)
}

/// Runs steps: time passes in `Work` only, and is the innermost path's own.
struct Program {
    now: u64,
    thread: Thread,
    stack: Vec<FunctionId>,
    own: BTreeMap<Vec<FunctionId>, (u32, u64)>,
}

impl Program {
    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Work(ns) => {
                    self.now += ns;
                    self.own.entry(self.stack.clone()).or_default().1 += ns;
                }
                Step::Call(function, body) => self.call(*function, body),
            }
        }
    }

    fn call(&mut self, function: FunctionId, body: &[Step]) {
        let merged = self.stack.last() == Some(&function);
        if !merged {
            self.stack.push(function);
        }
        self.own.entry(self.stack.clone()).or_default().0 += 1;
        self.thread = self.thread.clone().enter(self.now, function);
        self.run(body);
        self.thread = self.thread.clone().exit(self.now, function);
        if !merged {
            self.stack.pop();
        }
    }

    /// As `times` tells them: with what was spent below each path.
    fn times(&mut self, intervals: u32, waited: u64, waits: u32) -> Times {
        let own = std::mem::take(&mut self.own);
        expected(&own, intervals, waited, waits)
    }
}

fn expected(own: &BTreeMap<Vec<FunctionId>, (u32, u64)>, intervals: u32, waited: u64, waits: u32) -> Times {
    let below = |prefix: &[FunctionId]| {
        own.iter().filter(|(path, _)| path.starts_with(prefix)).map(|(_, (_, ns))| ns).sum::<u64>()
    };
    let mut times: Times = own
        .iter()
        .map(|(functions, (calls, ns))| (path(functions), (*calls, below(functions), *ns)))
        .collect();
    let root = times.entry(Vec::new()).or_default();
    *root = (intervals, below(&[]) + waited, root.2);
    if waits > 0 {
        times.insert(vec![None], (waits, waited, waited));
    }
    times
}

proptest! {
    #[test]
    fn calls_of_a_root_give_back_their_known_times(bodies in vec(steps(), 1..6), between in steps()) {
        let mut program = Program { now: 0, thread: Thread::new(1), stack: vec![], own: BTreeMap::new() };
        let mut known = Vec::new();
        for body in &bodies {
            program.run(&between);
            program.own.clear();
            program.call(1, body);
            known.push(program.times(1, 0, 0));
        }
        let profile = profile(&Rules::Function { root: 1 }, [program.thread]);
        prop_assert_eq!(profile.transactions.len(), known.len());
        for (place, known) in known.iter().enumerate() {
            prop_assert_eq!(profile.transactions[place].why, Why::Valid);
            prop_assert_eq!(&times(&profile, place), known);
        }
    }
}

proptest! {
    /// A recording may end after any record: what was over by then is as it would have been.
    #[test]
    fn an_end_in_between_changes_nothing_of_what_was_over(bodies in vec(steps(), 1..5), end in 0..200usize) {
        let mut program = Program { now: 0, thread: Thread::new(1), stack: vec![], own: BTreeMap::new() };
        bodies.iter().for_each(|body| program.call(1, body));
        let rules = Rules::Function { root: 1 };
        let whole = profile(&rules, [program.thread.clone()]);
        program.thread.0.records.truncate(end);
        let part = profile(&rules, [program.thread]);
        let (last, over) = match told(&part).split_last() {
            Some((last, over)) if last.2 == Why::Unfinished => (1, over.to_vec()),
            _ => (0, told(&part)),
        };
        prop_assert_eq!(part.transactions.len(), over.len() + last);
        prop_assert_eq!(&over[..], &told(&whole)[..over.len()]);
        for place in 0..over.len() {
            prop_assert_eq!(times(&part, place), times(&whole, place));
        }
    }
}

/// What one of several threads does next.
#[derive(Debug, Clone, Copy)]
enum Act {
    Pass(u64),
    Call(FunctionId),
    Return,
    Begin,
    Turn(u64),
    Suspend,
    End,
}

fn acts() -> impl Strategy<Value = Vec<(usize, Act)>> {
    let act = prop_oneof![
        4 => (0..9u64).prop_map(Act::Pass),
        3 => (2..5u32).prop_map(Act::Call),
        3 => Just(Act::Return),
        1 => Just(Act::Begin),
        2 => (0..6u64).prop_map(Act::Turn),
        1 => Just(Act::Suspend),
        1 => Just(Act::End),
    ];
    vec((0..3usize, act), 0..120)
}

/// Threads that work on transactions, one at a time each, and no two on one.
#[derive(Default)]
struct Workshop {
    now: u64,
    records: [Vec<Record>; 3],
    works_on: [Option<u64>; 3],
    stacks: [Vec<Call>; 3],
    begun: HashMap<u64, Known>,
    over: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Call {
    function: FunctionId,
    of: Option<u64>,
    merged: bool,
}

#[derive(Default)]
struct Known {
    begin: u64,
    last: u64,
    waited: u64,
    intervals: u32,
    own: BTreeMap<Vec<FunctionId>, (u32, u64)>,
}

impl Workshop {
    fn path(&self, thread: usize, id: u64) -> Vec<FunctionId> {
        let its_own = |call: &&Call| call.of == Some(id) && !call.merged;
        self.stacks[thread].iter().filter(its_own).map(|call| call.function).collect()
    }

    fn note(&mut self, thread: usize, kind: Kind, id: u64) {
        self.records[thread].push(Record::with_id(self.now, kind, id));
    }

    fn turn_away(&mut self, thread: usize) {
        if let Some(id) = self.works_on[thread].take() {
            self.begun.get_mut(&id).unwrap().last = self.now;
        }
    }

    fn turn_to(&mut self, thread: usize, id: u64) {
        self.works_on[thread] = Some(id);
        let known = self.begun.get_mut(&id).unwrap();
        known.waited += self.now - known.last;
        known.intervals += 1;
    }

    fn act(&mut self, thread: usize, act: Act) {
        match act {
            Act::Pass(ns) => {
                for thread in 0..3 {
                    let Some(id) = self.works_on[thread] else { continue };
                    let path = self.path(thread, id);
                    self.begun.get_mut(&id).unwrap().own.entry(path).or_default().1 += ns;
                }
                self.now += ns;
            }
            Act::Call(function) => {
                let of = self.works_on[thread];
                let merged =
                    self.stacks[thread].last().is_some_and(|top| top.function == function && top.of == of);
                self.stacks[thread].push(Call { function, of, merged });
                self.records[thread].push(Record::new(self.now, Kind::Enter, function, 100 + function));
                if let Some(id) = of {
                    let path = self.path(thread, id);
                    self.begun.get_mut(&id).unwrap().own.entry(path).or_default().0 += 1;
                }
            }
            Act::Return => {
                if let Some(call) = self.stacks[thread].pop() {
                    self.records[thread].push(Record::new(self.now, Kind::Exit, call.function, 0));
                }
            }
            Act::Begin => {
                let id = self.begun.len() as u64;
                self.turn_away(thread); // without a mark of its own
                self.begun.insert(id, Known { begin: self.now, last: self.now, ..Known::default() });
                self.note(thread, Kind::Begin, id);
                self.turn_to(thread, id);
            }
            Act::Turn(id) => {
                let free = !self.works_on.contains(&Some(id)) && !self.over.contains(&id);
                if free && self.begun.contains_key(&id) {
                    self.turn_away(thread);
                    self.note(thread, Kind::Resume, id);
                    self.turn_to(thread, id);
                }
            }
            Act::Suspend => {
                if let Some(id) = self.works_on[thread] {
                    self.note(thread, Kind::Suspend, id);
                    self.turn_away(thread);
                }
            }
            Act::End => {
                if let Some(id) = self.works_on[thread] {
                    self.note(thread, Kind::End, id);
                    self.turn_away(thread);
                    self.over.push(id);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn marked_intervals_give_back_their_known_times(acts in acts(), order in Just([0, 1, 2]).prop_shuffle()) {
        let mut shop = Workshop::default();
        acts.iter().for_each(|(thread, act)| shop.act(*thread, *act));
        let chunk = |thread: usize| {
            Thread(ThreadRecords { pid: 10, tid: thread as i32, records: shop.records[thread].clone() })
        };
        let one = profile(&Rules::Annotation, [0, 1, 2].map(chunk));
        prop_assert_eq!(&one, &profile(&Rules::Annotation, order.map(chunk)));
        let mut told: Vec<(u64, usize)> = Vec::new();
        for (place, transaction) in one.transactions.iter().enumerate() {
            prop_assert_eq!(transaction.why == Why::Valid, transaction.why != Why::Unfinished);
            if transaction.why == Why::Valid {
                told.push((transaction.begin_ns, place));
            }
        }
        prop_assert_eq!(told.len(), shop.over.len());
        shop.over.sort_by_key(|id| shop.begun[id].begin);
        let mut places: Vec<usize> = told.into_iter().map(|(_, place)| place).collect();
        for id in &shop.over {
            let known = &shop.begun[id];
            let times_of = expected(&known.own, known.intervals, known.waited, known.intervals - 1);
            // Those that begin at one instant may come in any order.
            let found = places.iter().position(|place| {
                one.transactions[*place].begin_ns == known.begin && times(&one, *place) == times_of
            });
            prop_assert!(found.is_some(), "{id}: {times_of:?} is not among {places:?}");
            places.swap_remove(found.unwrap());
        }
    }
}
