//! What the driver is asked for: one JSON document, since a URL holds a password and has no place on a command line.
//!
//! `python/tare/workload/oltp/request.py` writes it; a test there compares both sides field by field.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::oltp::{Isolation, Protocol};

/// One call of the driver.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// `postgresql://…`, `mariadb://…`, `mysql://…` or `sqlite:///…`, with its password.
    pub url: String,
    /// Of `catalogue::NAMES`.
    pub workload: String,
    /// None: as it was loaded.
    pub scale: Option<f64>,
    /// The workload's own settings.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Of the data (load), or of mix, parameters and arrivals (run).
    pub seed: u64,
    /// How statements travel. None: as the DBMS has it by default.
    #[serde(default)]
    pub protocol: Option<Protocol>,
    /// To a connection, and to reconnect in all.
    pub connect_timeout_s: f64,
    /// What to do.
    pub action: Action,
}

/// What to do.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Make and fill the tables.
    Load {
        /// Loading at the same time.
        connections: usize,
        /// Drop tables of these names that are not ours, or that are loaded already.
        replace: bool,
    },
    /// Hold the conditions against the data.
    Check {
        /// How many failing rows of each to name.
        rows: usize,
    },
    /// Drop the tables.
    Drop,
    /// Send transactions.
    Run(Run),
}

/// A run: its schedule, who sends it, and how failures are met.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Connections, each with a thread.
    pub connections: usize,
    /// When transactions are due.
    pub arrivals: Arrivals,
    /// One after the other; at least one. A closed loop's have no rate.
    pub phases: Vec<Phase>,
    /// At the first phase's rate, before the clock starts; its backlog is drained first.
    pub warmup_s: f64,
    /// After the last arrival is due, for what has not been started by then; what is left is counted as never started.
    pub drain_s: f64,
    /// An arrival that starts later than this is not sent, and counted as shed. None: all are sent.
    pub shed_after_s: Option<f64>,
    /// Type to weight. Empty: the default mix.
    #[serde(default)]
    pub mix: BTreeMap<String, f64>,
    /// Asked of the DBMS, and said in the result.
    pub isolation: Isolation,
    /// Tries of one transaction in all, from 1.
    pub tries: u32,
    /// Closed loop: keying and think times of the workload, times this; 0: none.
    pub think: f64,
    /// A transaction of one statement is sent without BEGIN and COMMIT.
    #[serde(default)]
    pub autocommit: bool,
    /// p of the L_p norm.
    pub norm: f64,
    /// Every transaction of the measured part, as `sample.rs` lays it out. None: none are kept.
    pub samples: Option<PathBuf>,
}

/// When transactions are due.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// A closed loop: each connection sends its next when the last has ended.
    Closed,
    /// Evenly spaced.
    Constant,
    /// Exponential gaps, drawn from the seed.
    Poisson,
    /// A file of arrivals: a line for each, seconds from the start, rising. Phases give only the duration.
    Trace {
        /// Its place.
        file: PathBuf,
    },
}

/// A stretch at one rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Transactions a second; may be below one. None: closed loop or trace.
    pub rate: Option<f64>,
    /// How long.
    pub duration_s: f64,
}
