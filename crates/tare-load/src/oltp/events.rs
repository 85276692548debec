//! Events that the driver reports while it works and at the end: a JSON document a line.
//!
//! `python/tare/workload/oltp/events.py` reads them; a test there compares both sides field by field. Instants are ns
//! of CLOCK_MONOTONIC, the clock of all of Tare's readings; durations are ns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::Counts;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The driver read what the database holds, before anything is done with it. None: nothing was loaded.
    MarkerRead {
        /// The marker's content.
        loaded: Option<LoadMarker>,
    },
    /// A load goes on.
    LoadProgress {
        /// Rows loaded so far.
        rows: u64,
        /// About as many rows in all.
        expected_rows: u64,
        /// The table that was last added to.
        table: String,
    },
    /// Loading is done.
    LoadDone {
        /// The marker's content now.
        loaded: LoadMarker,
        /// Rows of each table.
        tables: Vec<TableRows>,
        /// Rows that an interrupted load had left, and this one kept. The rows of all tables were then counted.
        continued_rows: u64,
        /// Rows alone; then with keys, indexes and statistics too.
        rows_ns: u64,
        /// See `rows_ns`.
        all_ns: u64,
        /// See `DriverCost`.
        own: DriverCost,
    },
    /// One condition was checked.
    CheckResult(CheckResult),
    /// All conditions were checked.
    ChecksDone {
        /// Time for all of them.
        took_ns: u64,
    },
    /// The tables are gone.
    TablesDropped,
    /// Every connection is open; warm-up begins.
    ConnectionsOpened {
        /// The server's own name and version.
        server: String,
        /// Isolation at work, in the DBMS's words.
        isolation: String,
        /// Protocol and cipher of the connections. None: they are not encrypted.
        encryption: Option<String>,
    },
    /// The measured part begins.
    MeasurementStarted {
        /// When its first arrival may be due.
        at_ns: i64,
    },
    /// A second of the measured part is over (and each of the drain). Warm-up has numbers below 0.
    Second(Second),
    /// A connection was lost or made again, or the DBMS refused something that no second try can mend.
    Trouble {
        /// Since the start; negative: warm-up.
        at_ns: i64,
        /// Message of the DBMS, reported once for each text and second, twenty texts a second at most.
        text: String,
    },
    /// The last line of a run.
    RunDone(Box<Outcome>),
    /// An action cannot go on. Its last line.
    ActionFailed {
        /// What happened, on what.
        what: String,
        /// What to do about it.
        next: String,
        /// The request was at fault (exit code 2), not the run (1).
        usage: bool,
    },
}

/// The marker that a finished load leaves in the database, in a table `tare_oltp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadMarker {
    /// Its name.
    pub workload: String,
    /// Its scale.
    pub scale: f64,
    /// Seed of the data.
    pub seed: u64,
    /// Options that shape the data, as text.
    pub options: String,
    /// Whether the load came to its end.
    pub complete: bool,
}

/// One table, loaded.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TableRows {
    /// Its name.
    pub table: String,
    /// How many.
    pub rows: u64,
}

/// The result of checking one condition on the data.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The workload's number for it.
    pub name: String,
    /// The condition, a sentence.
    pub says: String,
    /// Rows for which it does not hold.
    pub failing: u64,
    /// Their columns.
    pub columns: Vec<String>,
    /// The first of them, as text.
    pub rows: Vec<Vec<String>>,
    /// How long the DBMS took.
    pub took_ns: u64,
}

/// The driver's own cost, of its whole process.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DriverCost {
    /// CPU time, user and system.
    pub cpu_ns: u64,
    /// Largest resident memory.
    pub peak_rss_bytes: u64,
}

/// A second, all types together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// From the start of the measured part. The last of warm-up, -1, lasts until its backlog is drained.
    pub number: i64,
    /// Phase whose arrivals were due in it.
    pub phase: usize,
    /// `offered` by when it was due, all else by when it happened.
    pub counts: Counts,
    /// Due and not started at its end.
    pub backlog: u64,
    /// In the DBMS at its end.
    pub running: u64,
    /// Times from the intended start of those that ended in it. None: none ended.
    pub response: Option<Summary>,
    /// The same times from the real start.
    pub service: Option<Summary>,
    /// The driver's CPU time in it.
    pub own_cpu_ns: u64,
}

/// A distribution in short, ns.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Start of the measured part.
    pub started_ns: i64,
    /// From there to the end of the last transaction.
    pub took_ns: u64,
    /// What the schedule holds, in transactions a second; None: closed loop.
    pub intended_rate: Option<f64>,
    /// Transactions that started before the schedule's end and ended as the workload has it, over its length.
    pub rate: f64,
    /// Why the run is not valid: rate missed by more than 1%, backlog that grew, shed, never started, given up by more
    /// than 1%, a server that went away. Empty: valid.
    pub invalid: Vec<String>,
    /// In numbering order.
    pub types: Vec<TypeResult>,
    /// All types together, not the sum of their percentiles.
    pub all: TypeResult,
    /// Warm-up: how long with its drain, and what happened in it.
    pub warmup_ns: u64,
    /// See `warmup_ns`.
    pub warmup: Counts,
    /// Times a connection had to be made again.
    pub reconnects: u64,
    /// Cost of the measured part.
    pub own: DriverCost,
    /// Percent of each type, as used.
    pub mix: Vec<f64>,
    /// Rows of the samples' file.
    pub samples: u64,
    /// Where the measured part stood still, in order.
    pub stalls: Vec<Stall>,
    /// Requests to the DBMS whose answers its transactions waited for; 0: it is within the process.
    pub round_trips: u64,
}

/// A stretch in which transactions were due or running and none ended; at least a second long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// Since the start: the last end before it, or when the first that waited was due.
    pub from_ns: i64,
    /// When the next ended.
    pub to_ns: i64,
    /// Due or running at its end.
    pub waiting: u64,
}

/// Results of one type of transaction. Times are of those that were committed or rolled back as specified.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TypeResult {
    /// Its name in the mix; `all` for all types together.
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
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
