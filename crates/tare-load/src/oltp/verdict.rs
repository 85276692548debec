//! What a run is judged by, as figures. Sentences are made of them by whoever reports.
//!
//! `python/tare/workload/oltp/verdict.py` reads it. Instants are ns since the start of the measured part.

use serde::{Deserialize, Serialize};

/// Why a run is not valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Invalid {
    /// Most of the connections that were open at an instant broke: the server went away, or cut them off.
    ConnectionsBroke {
        /// When the first of them was seen to be broken.
        at_ns: i64,
        /// How many of them.
        broken: u64,
        /// How many there were.
        connections: u64,
        /// When the first connection was open again. None: none was.
        back_ns: Option<i64>,
    },
    /// The run ended before its schedule.
    CutShort {
        /// Length of the part that was run.
        after_ns: i64,
        /// Length of the schedule.
        length_ns: i64,
        /// What failed, in words of the system. None: the run was asked to stop.
        failure: Option<String>,
    },
    /// The rate of starts differs from that of the schedule by more than 1%.
    RateMissed {
        /// Started before the schedule's end, per second.
        rate: f64,
        /// Due, per second.
        intended_rate: f64,
    },
    /// Arrivals came faster than they could be started.
    BacklogGrew {
        /// The least number of transactions due and not started in the schedule's third quarter.
        third: u64,
        /// The same in its last quarter.
        last: u64,
    },
    /// Transactions were not sent, for being late.
    Shed {
        /// How many.
        count: u64,
        /// Of so many.
        offered: u64,
        /// Lateness that was allowed.
        late_ns: i64,
    },
    /// Transactions were never sent.
    Unstarted {
        /// How many.
        count: u64,
        /// Of so many.
        offered: u64,
        /// Time that was given to them after the schedule's end. None: the run was cut short.
        drain_ns: Option<i64>,
    },
    /// Transactions did not end while the driver waited. They are counted as lost.
    Abandoned {
        /// How many, warm-up included.
        count: u64,
    },
    /// More than 1% of the transactions were sent and neither committed nor rolled back as the workload specifies.
    Unsuccessful {
        /// Of so many.
        offered: u64,
        /// Given up after the last try, which ended in a deadlock.
        deadlocks: u64,
        /// The same, in a serialization failure.
        serialization_failures: u64,
        /// The same, in a lock time-out.
        lock_timeouts: u64,
        /// The connection broke.
        lost: u64,
        /// Any other error of the DBMS.
        errors: u64,
    },
}

/// What a run is too short to show. With no `Invalid` it is neither valid nor invalid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NotJudged {
    /// One delay of the driver explains the rate that was missed.
    RateLate {
        /// Started after the schedule's end.
        late: u64,
        /// Of so many.
        offered: u64,
        /// Longest delay of a driver on a busy machine.
        delay_ns: i64,
        /// Length of the schedule.
        length_ns: i64,
    },
    /// A difference of 1% is fewer than two transactions.
    RateTooFew {
        /// Transactions.
        offered: u64,
    },
    /// One delay of the driver explains that the backlog grew in the last quarter.
    Backlog {
        /// See `RateLate`.
        delay_ns: i64,
        /// See `RateLate`.
        length_ns: i64,
    },
}

/// No transaction ended for a second or more, while some were due or running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    /// When the last transaction before it ended, or the first one in it was due.
    pub start_ns: i64,
    /// To the next end.
    pub length_ns: i64,
    /// Transactions due and not ended, at its end.
    pub waiting: u64,
}
