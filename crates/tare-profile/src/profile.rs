//! What records come to: transactions, the call paths in them, and the time each took. Integer ns throughout.
//!
//! With `inclusive` of a path its time from entry to exit, and `own` what is left of it without its children in the
//! recording (the paper's body, Fig. 1): at every path inclusive = own + the children's inclusive, and a transaction's
//! `service_ns` + `waited_ns` = its `duration_ns` = the sum of `own` over its paths. Exact, since nothing is rounded twice.

use crate::backend::{FunctionId, Mode};

/// Why a transaction is not part of the analysis.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is.
    Valid = 0,
    /// Records of its threads were lost in it.
    Lost = 1,
    /// The set of probes was changed in it: its window ended before it did.
    Changed = 2,
    /// Intervals of it ran at the same time on several threads: their times may not be added (§3.1). Its only paths are
    /// the root and waiting; `service_ns` is the time in which at least one ran.
    Overlap = 3,
    /// It had begun before its window, for all that is known, or had not ended when the recording did.
    Unfinished = 4,
    /// Its thread's entries and exits do not nest: an exit without its entry.
    Unnested = 5,
    /// Its calls nest deeper than is followed (`transactions::MAX_DEPTH`).
    Deep = 6,
    /// Its root was left without an exit (exception, longjmp, end of the thread), and nobody knows when.
    Unwound = 7,
}

impl Why {
    /// As files and reports have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Lost => "lost",
            Self::Changed => "changed",
            Self::Overlap => "overlap",
            Self::Unfinished => "unfinished",
            Self::Unnested => "unnested",
            Self::Deep => "deep",
            Self::Unwound => "unwound",
        }
    }
}

/// One transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// In which window of the recording (`Window::number`).
    pub window: u32,
    /// Of its first interval.
    pub pid: i32,
    /// Of its first interval.
    pub tid: i32,
    /// CLOCK_MONOTONIC, ns.
    pub begin_ns: u64,
    /// Beginning of the first interval to the end of the last.
    pub duration_ns: u64,
    /// Its intervals together.
    pub service_ns: u64,
    /// Between its intervals; a path of its own, `Path::WAITING`.
    pub waited_ns: u64,
    /// During which several intervals ran.
    pub overlap_ns: u64,
    /// CPU time of its thread from its beginning to its end, under annotation in its intervals; where it was read.
    pub cpu_ns: Option<u64>,
    /// How many there were.
    pub intervals: u32,
    /// Its type, by the hash of its name (`Profile::texts`); 0 where there is none.
    pub label: u32,
    /// Whether its end was seen: ends are certain where beginnings are not, as a thread's first ones in a window.
    pub ended: bool,
    /// Why it does not count.
    pub why: Why,
}

impl Transaction {
    /// One of which nothing is known but where it was at an instant.
    pub(crate) fn at(now: u64, window: u32, (pid, tid): (i32, i32)) -> Self {
        Self {
            window,
            pid,
            tid,
            begin_ns: now,
            duration_ns: 0,
            service_ns: 0,
            waited_ns: 0,
            overlap_ns: 0,
            cpu_ns: None,
            intervals: 0,
            label: 0,
            ended: true,
            why: Why::Valid,
        }
    }
}

/// A call path: a function as called from another path, at one call site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Of the path that called, by its place in the list; the root (0) has none.
    pub parent: Option<u32>,
    /// `None`: the root, which is the transaction, or waiting between intervals.
    pub function: Option<FunctionId>,
    /// The caller's return address in its object; 0 where it is not known.
    pub site: u32,
}

impl Path {
    /// The path of waiting between intervals, always second in the list.
    pub const WAITING: u32 = 1;
}

/// What one path took in one transaction, over all of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Which transaction, by its place in the list.
    pub transaction: u32,
    /// Which path, by its place.
    pub path: u32,
    /// How many calls; of the root, intervals. A function that calls itself directly counts as one path.
    pub calls: u32,
    /// Entry to exit.
    pub inclusive_ns: u64,
    /// Of it, not in a child that was recorded.
    pub own_ns: u64,
}

/// A time with one set of probes.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// Its number, from 0.
    pub number: u32,
    /// CLOCK_MONOTONIC, ns.
    pub begin_ns: u64,
    /// The same.
    pub end_ns: u64,
    /// What the profiler calls it: "probed", "markers only", "counting", …
    pub purpose: String,
    /// Which round of refinement.
    pub round: u32,
    /// What its probes did.
    pub mode: Mode,
    /// Functions with a probe on.
    pub functions: Vec<FunctionId>,
    /// Records lost that no thread's stream tells of.
    pub lost: u64,
    /// Entries by function, in counting mode.
    pub calls: Vec<(FunctionId, u64)>,
    /// CPU time that the profiler itself took, ns: `Recorder`'s own thread, and setting the probes.
    pub own_cpu_ns: u64,
    /// Calls of signal handlers that are in no record; their time is that of the functions they interrupted.
    #[serde(default)]
    pub unrecorded: u64,
}

/// A recording put together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// In the order of their beginnings.
    pub transactions: Vec<Transaction>,
    /// The root first, waiting second.
    pub paths: Vec<Path>,
    /// By transaction, then path; a path that a transaction did not go has none.
    pub cells: Vec<Cell>,
    /// Names of the transactions' types, by hash (`Transaction::label`).
    pub texts: Vec<(u32, String)>,
    /// The windows.
    pub windows: Vec<Window>,
    /// Records read.
    pub records: u64,
    /// Records lost.
    pub lost: u64,
    /// Calls in transactions that were left without an exit (exception, longjmp, end of the thread). Each ends when
    /// that is seen.
    pub unwound: u64,
    /// Calls of signal handlers that are in no record (`Window::unrecorded`), of all windows.
    pub unrecorded: u64,
}
