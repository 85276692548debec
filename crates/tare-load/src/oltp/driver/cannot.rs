//! Why an action came to no result.

use std::fmt;

use crate::oltp::told::Told;
use crate::oltp::{Failure, Mistake};

/// What happened, on what, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cannot {
    /// What happened, on what.
    pub what: String,
    /// What to do about it.
    pub next: String,
    /// The request was at fault, not the database or the run.
    pub usage: bool,
}

impl Cannot {
    /// The request was right, but it cannot be done.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), usage: false }
    }

    /// The request was at fault.
    pub fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), usage: true }
    }

    /// As it is told.
    pub(super) fn told(self) -> Told {
        Told::Failed { what: self.what, next: self.next, usage: self.usage }
    }
}

impl From<Mistake> for Cannot {
    fn from(Mistake(what): Mistake) -> Self {
        Self::usage(what, "ask for what there is")
    }
}

impl From<Failure> for Cannot {
    fn from(failure: Failure) -> Self {
        Self::new(failure.text, "see what the DBMS says of it in its log")
    }
}

impl fmt::Display for Cannot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\n  next: {}", self.what, self.next)
    }
}

impl std::error::Error for Cannot {}
