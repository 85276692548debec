//! Values into SQLite and out of it.

use rusqlite::types::{ToSqlOutput, ValueRef};

use super::failure::failed;
use crate::oltp::{Failure, Row, Value};

/// Exact numbers and instants go as integers: a column has one scale, and times are microseconds.
pub fn bound(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Int(number) | Value::Time(number) | Value::Decimal { unscaled: number, .. } => {
            ValueRef::Integer(*number)
        }
        Value::Float(number) => ValueRef::Real(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
    })
}

/// The whole answer.
pub fn all(ready: &mut rusqlite::Statement<'_>) -> Result<Vec<Row>, Failure> {
    let width = ready.column_count();
    let mut found = ready.raw_query();
    let mut rows = Vec::new();
    while let Some(row) = found.next().map_err(|error| failed(&error))? {
        let fields = (0..width).map(|place| field(row.get_ref(place).map_err(|error| failed(&error))?));
        rows.push(Row(fields.collect::<Result<_, _>>()?));
    }
    Ok(rows)
}

fn field(value: ValueRef<'_>) -> Result<Value, Failure> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(bytes) => Value::Text(
            std::str::from_utf8(bytes).map_err(|_| Failure::foreign("a text that is not UTF-8"))?.to_owned(),
        ),
        ValueRef::Blob(_) => return Err(Failure::foreign("a BLOB, where no workload stores one")),
    })
}
