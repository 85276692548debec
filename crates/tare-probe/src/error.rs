//! The one error of this crate: what a kernel interface refused, and what to do about it.

use std::fmt;
use std::io;

/// A kernel interface refused: what happened, on what, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeError {
    /// What was tried, on what, and what the kernel said.
    pub what: String,
    /// What would make it work; may be empty.
    pub next_step: String,
    /// The kernel's error number, 0 where there is none.
    pub errno: i32,
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, ProbeError>;

impl ProbeError {
    /// An error that no system call reported.
    pub fn new(what: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { what: what.into(), next_step: next_step.into(), errno: 0 }
    }

    /// A system call's error, with the kernel's own words added to `what`.
    pub fn os(what: impl fmt::Display, error: &io::Error, next_step: impl Into<String>) -> Self {
        Self {
            what: format!("{what}: {error}"),
            next_step: next_step.into(),
            errno: error.raw_os_error().unwrap_or(0),
        }
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.next_step.is_empty() {
            write!(f, "\n  next: {}", self.next_step)?;
        }
        Ok(())
    }
}

impl std::error::Error for ProbeError {}
