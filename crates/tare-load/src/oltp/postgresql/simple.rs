//! A workload's statements as text with their values in it.

use std::collections::HashMap;

use fallible_iterator::FallibleIterator;
use postgres_protocol::Oid;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::oltp::civil::Civil;
use crate::oltp::template::{Template, quoted};
use crate::oltp::tsv::{digits, instant};
use crate::oltp::{Dialect, Failure, Row, Statement, Value};

use super::frame::is_of_begin;
use super::refused::malformed;
use super::types;
use super::wire::Wire;

/// Statements as far as they are known, by their addresses.
#[derive(Default)]
pub(super) struct Templates(HashMap<usize, Template>);

/// Rows of the last statement that has any, and how many rows each changed.
#[derive(Default)]
pub(super) struct Answer {
    pub rows: Vec<Row>,
    pub changed: Vec<u64>,
}

impl Templates {
    /// Appends a statement to a text of several.
    pub fn write(
        &mut self,
        statement: &'static Statement,
        values: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let known = self.0.entry(std::ptr::from_ref(statement).addr());
        let template = known.or_insert_with(|| Template::new(&statement.text(Dialect::PostgreSql)));
        template.write(values, out, literal)?;
        out.push(b';');
        Ok(())
    }
}

/// Sends a text of one or more statements, and reads all of its answer.
pub(super) fn exchange(wire: &mut Wire, text: &[u8]) -> Result<Answer, Failure> {
    let text = str::from_utf8(text).map_err(|error| Failure::foreign(error.to_string()))?;
    frontend::query(text, &mut wire.out)
        .map_err(|_| Failure::foreign("a value of the statement holds a zero byte"))?;
    wire.send()?;
    let (mut answer, mut columns) = (Answer::default(), Vec::new());
    wire.answer(|message| {
        match message {
            Message::RowDescription(body) => {
                columns = body.fields().map(|field| Ok(field.type_oid())).collect().map_err(malformed)?;
                answer.rows.clear();
            }
            Message::DataRow(body) => {
                let mut places = body.ranges();
                let mut fields = Vec::with_capacity(columns.len());
                for oid in &columns {
                    let place = places.next().map_err(malformed)?.flatten();
                    fields.push(field(place.map(|place| &body.buffer()[place]), *oid)?);
                }
                answer.rows.push(Row(fields));
            }
            Message::CommandComplete(done) => {
                let tag = done.tag().unwrap_or_default();
                if !is_of_begin(tag) {
                    answer.changed.push(super::rows_of(tag));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(answer)
}

fn field(bytes: Option<&[u8]>, oid: Oid) -> Result<Value, Failure> {
    bytes.map_or(Ok(Value::Null), |bytes| types::read_text(bytes, oid))
}

/// Each value between quotes: the server then infers its type from where it stands, as it does for a parameter.
fn literal(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => return out.extend_from_slice(b"NULL"),
        Value::Text(text) => return quoted(text, out),
        _ => out.push(b'\''),
    }
    match value {
        Value::Int(number) => digits(out, *number, 0),
        Value::Float(number) => out.extend_from_slice(format!("{number:e}").as_bytes()),
        Value::Decimal { unscaled, scale } => digits(out, *unscaled, (*scale).into()),
        Value::Time(micros) => instant(out, Civil::at(*micros)),
        Value::Null | Value::Text(_) => {}
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_quoted_so_that_its_place_gives_it_a_type() {
        static INSERT: Statement = Statement::new("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)");
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::Decimal { unscaled: -5, scale: 2 },
            "it's \\".into(),
            Value::Float(-1e300),
            Value::Time(1_738_367_999_000_001),
        ];
        let mut out = Vec::new();
        Templates::default().write(&INSERT, &values, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r"INSERT INTO t VALUES (NULL, '-5', '-0.05', 'it''s \', '-1e300', '2025-01-31 23:59:59.000001');"
        );
    }
}
