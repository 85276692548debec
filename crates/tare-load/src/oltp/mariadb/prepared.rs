//! Statements as the server keeps them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr;

use mysql::prelude::Queryable;
use mysql::{Binary, Conn, Params, QueryResult, Value as Wire};

use super::failure::failed;
use super::values::sent;
use crate::oltp::placeholders::questioned;
use crate::oltp::{Dialect, Failure, Statement, Value};

/// Enough for an `i64` before the point and any scale behind it.
const DIGITS: u8 = 38;

/// The protocol knows no exact numbers as parameters: a text beside a DECIMAL is reckoned in floating point. So a place
/// that is given one is written as a CAST, from the first time on.
pub struct Prepared {
    pub statement: mysql::Statement,
    order: Vec<usize>,
    /// Of each parameter given; None: no exact number was ever given for it.
    scales: Vec<Option<u8>>,
    /// It adds one row by one row, and does nothing else.
    pub inserts: bool,
}

/// As `parameters` need it; made, or made again, where it is not.
pub fn ready<'a>(
    known: &'a mut HashMap<usize, Prepared>,
    on: &mut Conn,
    statement: &'static Statement,
    parameters: &[Value],
) -> Result<&'a Prepared, Failure> {
    match known.entry(ptr::from_ref(statement).addr()) {
        Entry::Occupied(known) => {
            let known = known.into_mut();
            if !known.fits(parameters) {
                let scales = known.scales.clone();
                on.close(known.statement.clone()).map_err(|error| failed(&error))?;
                *known = Prepared::new(on, statement, &scales, parameters)?;
            }
            Ok(known)
        }
        Entry::Vacant(new) => Ok(new.insert(Prepared::new(on, statement, &[], parameters)?)),
    }
}

impl Prepared {
    fn new(on: &mut Conn, from: &Statement, before: &[Option<u8>], given: &[Value]) -> Result<Self, Failure> {
        let scales: Vec<_> = given
            .iter()
            .enumerate()
            .map(|(place, value)| before.get(place).copied().flatten().max(scale(value)))
            .collect();
        let (text, order) = questioned(&from.text(Dialect::MariaDb), |place| {
            let cast = scales.get(place).copied().flatten();
            cast.map_or_else(|| "?".to_owned(), |scale| format!("CAST(? AS DECIMAL({DIGITS},{scale}))"))
        });
        if let Some(place) = order.iter().find(|place| **place >= given.len()) {
            return Err(Failure::foreign(format!("no value was given for ${}: {text}", place + 1)));
        }
        let statement = on.prep(&text).map_err(|error| failed(&error))?;
        Ok(Self { statement, order, scales, inserts: inserts(&text) })
    }

    fn fits(&self, given: &[Value]) -> bool {
        self.scales.len() == given.len()
            && self
                .scales
                .iter()
                .zip(given)
                .all(|(known, value)| scale(value).is_none() || *known >= scale(value))
    }

    /// Values in the order of their places.
    pub fn values(&self, given: &[Value]) -> Vec<Wire> {
        self.order.iter().map(|place| sent(&given[*place])).collect()
    }

    pub fn execute<'a>(
        &self,
        on: &'a mut Conn,
        given: &[Value],
    ) -> Result<QueryResult<'a, 'a, 'a, Binary>, Failure> {
        let values = self.values(given);
        let values = if values.is_empty() { Params::Empty } else { Params::Positional(values) };
        on.exec_iter(&self.statement, values).map_err(|error| failed(&error))
    }
}

fn scale(value: &Value) -> Option<u8> {
    match value {
        Value::Decimal { scale, .. } => Some(*scale),
        _ => None,
    }
}

fn inserts(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.starts_with("insert into")
        && text.contains("values")
        && !["select", "duplicate", "returning", "),(", "), ("].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::inserts;

    #[test]
    fn only_an_insert_of_one_row_is_sent_with_others() {
        assert!(inserts("INSERT INTO t (a, b) VALUES (?, CAST(? AS DECIMAL(38,2)))"));
        for text in [
            "UPDATE t SET a = ?",
            "INSERT IGNORE INTO t VALUES (?)",
            "INSERT INTO t SELECT * FROM s WHERE a = ?",
            "INSERT INTO t VALUES (?, 1), (?, 2)",
            "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = 1",
            "INSERT INTO t VALUES (?) RETURNING a",
        ] {
            assert!(!inserts(text), "{text}");
        }
    }
}
