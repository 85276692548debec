//! Why an action came to nothing, and what to do about it.

use std::fmt;

use crate::oltp::{Failure, Mistake, Trouble};

/// The fields of `Event::ActionFailed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What happened, on what.
    pub what: String,
    /// What to do about it.
    pub next: String,
    /// The request was at fault.
    pub usage: bool,
}

impl Problem {
    /// The request was right, but nothing can come of it.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), usage: false }
    }

    /// The request is at fault, or the database is not as it takes it to be.
    pub fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), usage: true }
    }

    /// The DBMS refused something. `doing`: what, beginning a sentence.
    pub fn of(doing: &str, failure: &Failure) -> Self {
        let by_trouble = match failure.trouble {
            Trouble::Lost => "see whether the server is up, and what its log says last",
            Trouble::Full => "raise the server's limit of connections, or ask for fewer",
            Trouble::LockTimeout => "end the other sessions that hold locks in this database, then try again",
            _ => {
                "correct what the DBMS names; its user needs the right to make, fill, read and drop tables here"
            }
        };
        let next = failure.next.unwrap_or(by_trouble);
        Self { what: format!("{doing} failed: {failure}"), next: next.to_owned(), usage: false }
    }
}

impl From<Mistake> for Problem {
    fn from(Mistake(what): Mistake) -> Self {
        Self::usage(what, "see what there is: `tare bench oltp list`")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}; {}", self.what, self.next)
    }
}

impl std::error::Error for Problem {}
