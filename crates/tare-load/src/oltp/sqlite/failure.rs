//! What SQLite's errors are to the tally.

use rusqlite::{Error, ffi};

use crate::oltp::{Failure, Trouble};

/// With SQLite's words and extended code.
pub fn failed(error: &Error) -> Failure {
    match error.sqlite_error() {
        Some(said) => Failure::new(trouble(said.extended_code), format!("{error} [{}]", said.extended_code)),
        None => Failure::foreign(error.to_string()),
    }
}

fn trouble(code: i32) -> Trouble {
    match code {
        ffi::SQLITE_BUSY_SNAPSHOT => Trouble::Serialization,
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            Trouble::Duplicate
        }
        code if matches!(code & 0xFF, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => Trouble::LockTimeout,
        _ => Trouble::Error,
    }
}
