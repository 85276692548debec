//! How transactions begin and end, over each protocol.
//!
//! A named session has its isolation level and its limits of waiting as settings. Over the other protocols a pooler may
//! give each transaction another backend, and a setting would stay with whoever gets the backend next: so BEGIN names
//! the level, and SET LOCAL the limit.

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use crate::oltp::{Failure, Isolation, LOCK_WAIT, Protocol};

use super::refused::malformed;

/// Prepared under their own names.
const WORDS: [&str; 3] = ["begin", "commit", "rollback"];

pub(super) struct Frame {
    protocol: Protocol,
    begin: [String; 2],
}

impl Frame {
    pub fn new(protocol: Protocol, isolation: Isolation) -> Self {
        let wait = LOCK_WAIT.as_millis();
        let begin = [
            format!("BEGIN ISOLATION LEVEL {}", level(isolation)),
            format!("SET LOCAL lock_timeout = '{wait}ms'"),
        ];
        Self { protocol, begin }
    }

    /// To be sent before all that is framed.
    pub fn prepare(&self, out: &mut BytesMut) -> Result<(), Failure> {
        if self.protocol == Protocol::Named {
            for word in WORDS {
                frontend::parse(word, word, [], out).map_err(malformed)?;
            }
        }
        Ok(())
    }

    /// BEGIN as a message, or several, that others follow. Not over the simple protocol.
    pub fn begin(&self, out: &mut BytesMut) {
        match self.protocol {
            Protocol::Named => execute("begin", out),
            _ => self.begin.iter().for_each(|sql| parse_and_execute(sql, out)),
        }
    }

    /// BEGIN as text that other text follows.
    pub fn begin_text(&self) -> String {
        let [begin, limit] = &self.begin;
        format!("{begin};{limit};")
    }

    /// `commit` or `rollback`. Not over the simple protocol.
    pub fn end(&self, word: &str, out: &mut BytesMut) {
        match self.protocol {
            Protocol::Named => execute(word, out),
            _ => parse_and_execute(word, out),
        }
    }
}

/// Whether the server so answers a part of BEGIN.
pub(super) fn is_of_begin(tag: &str) -> bool {
    matches!(tag, "BEGIN" | "SET")
}

pub(super) fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}

/// Nothing in these can be too long for the protocol.
fn execute(name: &str, out: &mut BytesMut) {
    let _ = frontend::bind("", name, [], [(); 0], |(), _| Ok(IsNull::Yes), [], out);
    let _ = frontend::execute("", 0, out);
}

fn parse_and_execute(sql: &str, out: &mut BytesMut) {
    let _ = frontend::parse("", sql, [], out);
    execute("", out);
}
