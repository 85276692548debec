//! What the driver tells while it works and at the end: a JSON document a line.
//!
//! `python/tare/workload/oltp/told.py` reads it. Instants are ns of CLOCK_MONOTONIC, the clock of all of Tare's
//! readings; durations are ns.

use serde::{Deserialize, Serialize};

use crate::oltp::verdict::{Freeze, Invalid, NotJudged};

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Told {
    /// What stands in the database, before anything is done with it. None: nothing was loaded.
    Found {
        /// The marker's content.
        loaded: Option<Loaded>,
    },
    /// While loading.
    Loading {
        /// So far.
        rows: u64,
        /// About, in all.
        of: u64,
        /// The table that was last added to.
        table: String,
    },
    /// Loading is done.
    LoadDone {
        /// What stands there now.
        loaded: Loaded,
        /// Of each table.
        tables: Vec<TableLoaded>,
        /// Rows alone; then with keys, indexes and statistics too.
        rows_ns: u64,
        /// See `rows_ns`.
        all_ns: u64,
        /// The driver's own.
        own: Own,
    },
    /// One condition was held against the data.
    Checked(Checked),
    /// All were.
    CheckDone {
        /// In all.
        took_ns: u64,
    },
    /// The tables are gone.
    Dropped,
    /// Every connection is open; warm-up begins.
    Connected {
        /// As the server says it.
        server: String,
        /// As it is at work, in the DBMS's words.
        isolation: String,
    },
    /// The measured part begins.
    Started {
        /// When its first arrival may be due.
        at_ns: i64,
    },
    /// A second of the measured part is over (and each of the drain). Warm-up has numbers below 0.
    Second(Second),
    /// A connection was lost or made again, or the DBMS refused something that no second try can mend.
    Trouble {
        /// Since the start; negative: warm-up.
        at_ns: i64,
        /// What the DBMS said. Told once for each text and second, twenty texts a second at most.
        text: String,
    },
    /// The last line of a run.
    RunDone(Box<Outcome>),
    /// The last line of whatever cannot go on.
    Failed {
        /// What happened, on what.
        what: String,
        /// What to do about it.
        next: String,
        /// The request was at fault (exit code 2), not the run (1).
        usage: bool,
    },
}

/// The marker that a finished load leaves in the database, in a table `tare_oltp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Its name.
    pub workload: String,
    /// Its scale.
    pub scale: f64,
    /// Of the data.
    pub seed: u64,
    /// Options that shape the data, as text.
    pub options: String,
    /// Whether the load came to its end.
    pub complete: bool,
}

/// One table, loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableLoaded {
    /// Its name.
    pub table: String,
    /// How many.
    pub rows: u64,
}

/// A condition and what it found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checked {
    /// As the workload numbers it.
    pub name: String,
    /// What must hold.
    pub says: String,
    /// Rows where it does not.
    pub failing: u64,
    /// Their columns.
    pub columns: Vec<String>,
    /// The first of them, as text.
    pub rows: Vec<Vec<String>>,
    /// How long the DBMS took.
    pub took_ns: u64,
}

/// The driver's own cost, of its whole process.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Own {
    /// User and system.
    pub cpu_ns: u64,
    /// At most.
    pub peak_rss_bytes: u64,
}

/// Every arrival ends in exactly one of these; their sum is `offered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals that were due; in a closed loop, those that were started.
    pub offered: u64,
    /// Of these, sent to the DBMS at least once (not a part of the sum).
    pub started: u64,
    /// As asked.
    pub committed: u64,
    /// As the workload's specification has it.
    pub rolled_back: u64,
    /// Gave up after the last try, by the last try's trouble.
    pub deadlocks: u64,
    /// See `deadlocks`.
    pub serialization_failures: u64,
    /// See `deadlocks`.
    pub lock_timeouts: u64,
    /// The connection broke; whether it committed is not known.
    pub lost: u64,
    /// Any other error.
    pub errors: u64,
    /// Not sent, for being too late.
    pub shed: u64,
    /// Not sent by the end of the drain.
    pub unstarted: u64,
    /// Tries beyond the first, by what made them necessary (not a part of the sum).
    pub retried_deadlock: u64,
    /// See `retried_deadlock`.
    pub retried_serialization: u64,
    /// See `retried_deadlock`.
    pub retried_lock_timeout: u64,
}

/// A second, all types together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Second {
    /// From the start of the measured part. The last of warm-up, -1, lasts until its backlog is drained.
    pub number: i64,
    /// Which phase's arrivals were due in it.
    pub phase: usize,
    /// `offered` by when it was due, all else by when it happened.
    pub counts: Counts,
    /// Due and not started at its end.
    pub backlog: u64,
    /// In the DBMS at its end.
    pub running: u64,
    /// Of those that ended in it, from the intended start; None: none ended.
    pub response: Option<Quick>,
    /// From the real start.
    pub service: Option<Quick>,
    /// The driver's CPU time in it.
    pub own_cpu_ns: u64,
}

/// A distribution in short, ns.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quick {
    /// Arithmetic.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 95 of 100 are below.
    pub p95: u64,
    /// 99 of 100 are below.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// A run, whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Start of the measured part.
    pub started_ns: i64,
    /// From there to the end of the last transaction.
    pub took_ns: u64,
    /// What the schedule holds, in transactions a second; None: closed loop.
    pub intended_rate: Option<f64>,
    /// Started before the schedule's end, over its length.
    pub rate: f64,
    /// Of these, committed or rolled back as the workload specifies.
    pub sustained_rate: f64,
    /// Why the run is not valid. Empty here and in `not_judged`: valid.
    pub invalid: Vec<Invalid>,
    /// What the run is too short to show.
    pub not_judged: Vec<NotJudged>,
    /// In order. A run that has them may be valid: they are the server's behaviour.
    pub freezes: Vec<Freeze>,
    /// In numbering order.
    pub types: Vec<OfType>,
    /// All types together, not the sum of their percentiles.
    pub all: OfType,
    /// Warm-up: how long with its drain, and what happened in it.
    pub warmup_ns: u64,
    /// See `warmup_ns`.
    pub warmup: Counts,
    /// Times a connection had to be made again.
    pub reconnects: u64,
    /// Of the measured part.
    pub own: Own,
    /// As used, in percent.
    pub mix: Vec<f64>,
    /// Rows of the samples' file.
    pub samples: u64,
}

/// What happened to one type of transaction. Times are of those that were committed or rolled back as specified.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OfType {
    /// As the mix names it; `all` for all.
    pub name: String,
    /// Ends.
    pub counts: Counts,
    /// From the intended start (open loop) or the real one (closed) to the end.
    pub response: Distribution,
    /// From the real start of the first try to the end.
    pub service: Distribution,
    /// From the intended start to the real one; empty in a closed loop.
    pub lag: Distribution,
}

/// A distribution that can be merged with another's: exact moments, and a histogram of three significant digits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// How many values.
    pub count: u64,
    /// Arithmetic mean, ns.
    pub mean: f64,
    /// Sum of squared deviations from the mean, ns².
    pub m2: f64,
    /// p of the norm, and the sum of the p-th powers of values in ms.
    pub norm: f64,
    /// See `norm`.
    pub power_sum: f64,
    /// Smallest, ns.
    pub min: u64,
    /// Largest, ns, exact.
    pub max: u64,
    /// Buckets that hold something: the highest value that counts into it (ns), and how many.
    pub histogram: Vec<(u64, u64)>,
}
