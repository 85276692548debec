//! Why a transaction did not commit, told apart as the tally counts it.

use std::fmt;

/// What kind of failure it is; each is counted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trouble {
    /// The DBMS broke a cycle of waits. Worth another try.
    Deadlock,
    /// The DBMS could not place it in a serial order. Worth another try.
    Serialization,
    /// A lock was not had in time (SQLite: the database was busy). Worth another try.
    LockTimeout,
    /// A row with this key is already there. A workload that expects it turns it into `Ended::RollBack`.
    Duplicate,
    /// The connection is gone; whether the transaction committed is not known.
    Lost,
    /// The server takes no more connections.
    Full,
    /// Anything else.
    Error,
}

impl Trouble {
    /// Whether the same transaction may succeed if it is tried once more.
    pub fn passes(self) -> bool {
        matches!(self, Self::Deadlock | Self::Serialization | Self::LockTimeout)
    }
}

/// With the DBMS's own words. Never holds a password.
#[derive(Clone, Debug)]
pub struct Failure {
    /// As it is counted.
    pub trouble: Trouble,
    /// What the DBMS said, with its code.
    pub text: String,
    /// What to do about it, where its code tells. None: its trouble tells.
    pub next: Option<&'static str>,
}

impl Failure {
    /// As a DBMS reports it.
    pub fn new(trouble: Trouble, text: impl Into<String>) -> Self {
        Self { trouble, text: text.into(), next: None }
    }

    /// With what to do about it.
    pub fn with_next(self, next: Option<&'static str>) -> Self {
        Self { next, ..self }
    }

    /// In other words.
    pub fn reworded(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// The database does not hold what the workload loaded into it.
    pub fn foreign(text: impl Into<String>) -> Self {
        Self::new(Trouble::Error, text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}
