//! Statements as text with their values in it: all of the simple protocol's, and batches of either protocol.
//!
//! The protocol answers a message of several statements with as many results, so a batch costs one round trip.

use std::collections::HashMap;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::failure::failed;
use super::values;
use crate::oltp::civil::Civil;
use crate::oltp::template::{Template, quoted};
use crate::oltp::tsv::{digits, instant};
use crate::oltp::{Dialect, Failure, Row, Statement, Value};

type Work = (&'static Statement, Vec<Value>);

/// Far below any server's `max_allowed_packet`.
const LONGEST: usize = 1 << 19;

/// Statements as far as they are known, by their addresses.
#[derive(Default)]
pub struct Templates(HashMap<usize, Template>);

impl Templates {
    fn write(
        &mut self,
        statement: &'static Statement,
        given: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let known = self.0.entry(std::ptr::from_ref(statement).addr());
        let template = known.or_insert_with(|| Template::new(&statement.text(Dialect::MariaDb)));
        template.write(given, out, literal)
    }

    /// The rows of its answer.
    pub fn rows(
        &mut self,
        on: &mut Conn,
        statement: &'static Statement,
        given: &[Value],
    ) -> Result<Vec<Row>, Failure> {
        let mut text = Vec::with_capacity(256);
        self.write(statement, given, &mut text)?;
        values::all(on.query_iter(utf8(&text)?).map_err(|error| failed(&error))?)
    }

    /// How many rows it changed.
    pub fn run(
        &mut self,
        on: &mut Conn,
        statement: &'static Statement,
        given: &[Value],
    ) -> Result<u64, Failure> {
        let mut text = Vec::with_capacity(256);
        self.write(statement, given, &mut text)?;
        let mut changed = Vec::with_capacity(1);
        send(on, &text, &mut changed)?;
        Ok(changed.first().copied().unwrap_or(0))
    }

    /// How many rows each changed, and how many messages it took. The first failure ends it.
    pub fn batch(&mut self, on: &mut Conn, work: &[Work]) -> Result<(Vec<u64>, u64), Failure> {
        let (mut changed, mut messages) = (Vec::with_capacity(work.len()), 0);
        let mut text = Vec::with_capacity(1 << 12);
        for (number, (statement, given)) in work.iter().enumerate() {
            if !text.is_empty() {
                text.push(b';');
            }
            self.write(statement, given, &mut text)?;
            if text.len() >= LONGEST || number + 1 == work.len() {
                send(on, &text, &mut changed)?;
                text.clear();
                messages += 1;
            }
        }
        Ok((changed, messages))
    }
}

fn send(on: &mut Conn, text: &[u8], changed: &mut Vec<u64>) -> Result<(), Failure> {
    let mut answers = on.query_iter(utf8(text)?).map_err(|error| failed(&error))?;
    while let Some(answer) = answers.iter() {
        changed.push(answer.affected_rows());
        for row in answer {
            row.map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

fn utf8(text: &[u8]) -> Result<&str, Failure> {
    str::from_utf8(text).map_err(|error| Failure::foreign(error.to_string()))
}

/// A sign stands between parentheses: two of them would begin a comment.
fn literal(value: &Value, out: &mut Vec<u8>) {
    let number = |negative: bool, out: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
        if negative {
            out.push(b'(');
        }
        write(out);
        if negative {
            out.push(b')');
        }
    };
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(given) => number(*given < 0, out, &|out| digits(out, *given, 0)),
        Value::Decimal { unscaled, scale } => {
            number(*unscaled < 0, out, &|out| digits(out, *unscaled, (*scale).into()));
        }
        Value::Float(given) => number(given.is_sign_negative(), out, &|out| {
            out.extend_from_slice(format!("{given:e}").as_bytes());
        }),
        Value::Text(text) => quoted(text, out),
        Value::Time(micros) => {
            out.extend_from_slice(b"TIMESTAMP'");
            instant(out, Civil::at(*micros));
            out.push(b'\'');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_literals_of_their_own_types() {
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::Decimal { unscaled: 5, scale: 2 },
            Value::Float(0.25),
            "it's \\".into(),
            Value::Time(0),
        ];
        let mut out = Vec::new();
        for value in &values {
            literal(value, &mut out);
            out.push(b'|');
        }
        let expected = r"NULL|(-5)|0.05|2.5e-1|'it''s \'|TIMESTAMP'1970-01-01 00:00:00.000000'|";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
