//! Where a transaction begins, pauses and ends, told by the records of marker functions: data that a preset fills in.

use serde::{Deserialize, Serialize};

use crate::backend::FunctionId;

/// How transactions are told apart in one thread's records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum Rules {
    /// Each outermost call of this function is one.
    Function {
        /// Which.
        root: FunctionId,
    },
    /// A function whose argument says what state its thread comes to (PostgreSQL's `pgstat_report_activity`):
    /// detail is `WordAndText`, the text is a statement's. The first text of a transaction is its label.
    State {
        /// Which.
        marker: FunctionId,
        /// Words at which work begins or goes on.
        running: Vec<u32>,
        /// At which it waits for its client in mid-transaction.
        pausing: Vec<u32>,
        /// At which it is over.
        ended: Vec<u32>,
    },
    /// Each call of `root` (MariaDB's `dispatch_command`) is an interval. A transaction goes on over several where
    /// `opens` was called and none of `closes` since.
    Dispatch {
        /// Which function is an interval; its detail may be `WordAndText`, and its text is then the label.
        root: FunctionId,
        /// Words of `root`'s detail whose text is a statement; empty: none has one.
        labelled: Vec<u32>,
        /// Calls that open a transaction of several intervals. One whose detail is a `Word`, a `bool`, opens it where that
        /// is true.
        opens: Vec<FunctionId>,
        /// Calls that close it at the end of the interval they are in.
        closes: Vec<FunctionId>,
    },
    /// Begin, Suspend, Resume and End records (annotations): intervals of one id are put together, also over threads.
    Annotation,
    /// USDT: entries of one probe begin a transaction, of others end it.
    Marks {
        /// Begins one.
        begin: FunctionId,
        /// Each ends it.
        end: Vec<FunctionId>,
    },
}
