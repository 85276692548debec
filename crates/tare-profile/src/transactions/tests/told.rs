//! How tests write records down, and read what they come to.

use std::collections::BTreeMap;

use tare_rings::{Kind, Record};

use crate::backend::{Detail, FunctionId, ThreadRecords};
use crate::profile::{Path, Profile, Transaction, Why, Window};
use crate::recording::tests::Script;
use crate::recording::{Gap, Span};
use crate::rules::Rules;
use crate::transactions::assemble;

/// One thread's records, as they are written down.
#[derive(Clone)]
pub(super) struct Thread(pub(super) ThreadRecords);

impl Thread {
    pub(super) fn new(tid: i32) -> Self {
        Self(ThreadRecords { pid: 10, tid, records: Vec::new() })
    }

    fn push(mut self, record: Record) -> Self {
        self.0.records.push(record);
        self
    }

    /// From call site 100 + the function's number.
    pub(super) fn enter(self, at: u64, function: FunctionId) -> Self {
        self.push(Record::new(at, Kind::Enter, function, 100 + function))
    }

    pub(super) fn enter_with(self, at: u64, function: FunctionId, detail: u32) -> Self {
        self.push(Record::new(at, Kind::Enter, function, detail))
    }

    pub(super) fn exit(self, at: u64, function: FunctionId) -> Self {
        self.push(Record::new(at, Kind::Exit, function, 0))
    }

    pub(super) fn cut(self, at: u64, function: FunctionId) -> Self {
        self.push(Record::new(at, Kind::Cut, function, 0))
    }

    /// Left at that very time, as where an exception lands or its thread ends.
    pub(super) fn left_now(self, at: u64, function: FunctionId) -> Self {
        self.push(Record::new(at, Kind::Cut, function, 1))
    }

    pub(super) fn cpu(self, ns: u64) -> Self {
        self.push(Record::with_id(0, Kind::Cpu, ns))
    }

    pub(super) fn lost(self, at: u64, records: u32) -> Self {
        self.push(Record::new(at, Kind::Lost, 0, records))
    }

    pub(super) fn mark(self, at: u64, kind: Kind, id: u64) -> Self {
        self.push(Record::with_id(at, kind, id))
    }

    pub(super) fn label(self, at: u64, id: u32, hash: u32) -> Self {
        self.push(Record::new(at, Kind::Label, id, hash))
    }
}

/// A window with plain probes.
pub(super) fn window(number: u32, begin: u64, end: u64) -> Span {
    Span { window: Window { number, ..Window::default() }, begin, end, ..Span::default() }
}

/// What these threads' records come to, in one window from 0 to 10,000 ns.
pub(super) fn profile(rules: &Rules, threads: impl IntoIterator<Item = Thread>) -> Profile {
    scripted(rules, script(threads))
}

pub(super) fn script(threads: impl IntoIterator<Item = Thread>) -> Script {
    let chunks = threads.into_iter().map(|thread| thread.0).collect();
    Script { spans: vec![window(0, 0, 10_000)], chunks, ..Script::default() }
}

pub(super) fn scripted(rules: &Rules, script: Script) -> Profile {
    let (_file, recording) = script.recorded();
    let profile = assemble(&recording, rules).unwrap();
    adds_up(&profile);
    profile
}

pub(super) fn with_details(mut script: Script, details: &[(FunctionId, Detail)]) -> Script {
    script.spans.iter_mut().for_each(|span| span.details = details.to_vec());
    script
}

pub(super) fn with_gap(mut script: Script, from: u64, to: u64) -> Script {
    script.gaps.push(Gap { lost: 1, from, to });
    script
}

/// What `profile.rs` promises of any profile.
pub(super) fn adds_up(profile: &Profile) {
    let Profile { transactions, paths, cells, .. } = profile;
    assert!(transactions.is_sorted_by_key(|one| one.begin_ns));
    assert!(cells.is_sorted_by(|one, next| (one.transaction, one.path) < (next.transaction, next.path)));
    assert_eq!((paths[0].parent, paths[1].parent), (None, Some(0)));
    assert!((0..).zip(paths).skip(1).all(|(place, path)| path.parent.is_some_and(|parent| parent < place)));
    for (place, one) in (0..).zip(transactions) {
        let cells: BTreeMap<u32, _> =
            cells.iter().filter(|cell| cell.transaction == place).map(|cell| (cell.path, *cell)).collect();
        let mut inside: BTreeMap<u32, u64> = cells.iter().map(|(path, cell)| (*path, cell.own_ns)).collect();
        for (path, cell) in &cells {
            if let Some(parent) = paths[*path as usize].parent {
                *inside.get_mut(&parent).expect("a caller has a cell") += cell.inclusive_ns;
            }
        }
        assert!(cells.iter().all(|(path, cell)| cell.inclusive_ns == inside[path]), "{one:?} {cells:?}");
        assert_eq!(one.service_ns + one.waited_ns, one.duration_ns, "{one:?}");
        assert_eq!(cells.values().map(|cell| cell.own_ns).sum::<u64>(), one.duration_ns, "{one:?}");
        assert_eq!(cells.get(&Path::WAITING).map_or(0, |cell| cell.own_ns), one.waited_ns);
    }
}

/// Calls, inclusive and own ns of each path of a transaction, by its functions from the root on; `None`: waiting.
pub(super) type Times = BTreeMap<Vec<Option<FunctionId>>, (u32, u64, u64)>;

pub(super) fn times(profile: &Profile, transaction: usize) -> Times {
    let functions = |mut path: u32| {
        let mut functions = Vec::new();
        while let Some(parent) = profile.paths[path as usize].parent {
            functions.push(profile.paths[path as usize].function);
            path = parent;
        }
        functions.reverse();
        functions
    };
    let mut times = Times::new();
    for cell in profile.cells.iter().filter(|cell| cell.transaction as usize == transaction) {
        let sum = times.entry(functions(cell.path)).or_default();
        *sum = (sum.0 + cell.calls, sum.1 + cell.inclusive_ns, sum.2 + cell.own_ns);
    }
    times
}

/// A path of functions.
pub(super) fn path(functions: &[FunctionId]) -> Vec<Option<FunctionId>> {
    functions.iter().copied().map(Some).collect()
}

/// Whether each one's end was seen.
pub(super) fn ended(profile: &Profile) -> Vec<bool> {
    profile.transactions.iter().map(|one| one.ended).collect()
}

/// When each transaction began, its time from begin to end, and whether it counts.
pub(super) fn told(profile: &Profile) -> Vec<(u64, u64, Why)> {
    profile.transactions.iter().map(|one: &Transaction| (one.begin_ns, one.duration_ns, one.why)).collect()
}
