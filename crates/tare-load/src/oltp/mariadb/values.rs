//! Values into MariaDB and out of it.

use mysql::consts::ColumnType;
use mysql::prelude::Protocol;
use mysql::{Column, QueryResult, Row as Answer, Value as Wire};

use super::failure::failed;
use crate::oltp::civil::Civil;
use crate::oltp::tsv::digits;
use crate::oltp::{Failure, Row, Value};

/// Exact numbers go as text, and are cast where they stand (see `Prepared`).
pub fn sent(value: &Value) -> Wire {
    match value {
        Value::Null => Wire::NULL,
        Value::Int(number) => Wire::Int(*number),
        Value::Float(number) => Wire::Double(*number),
        Value::Decimal { unscaled, scale } => {
            let mut text = Vec::with_capacity(24);
            digits(&mut text, *unscaled, (*scale).into());
            Wire::Bytes(text)
        }
        Value::Text(text) => Wire::Bytes(text.as_bytes().to_vec()),
        Value::Time(micros) => {
            let at = Civil::at(*micros);
            let part = |number: u32| number as u8;
            let (month, day, hour) = (part(at.month), part(at.day), part(at.hour));
            Wire::Date(at.year as u16, month, day, hour, part(at.minute), part(at.second), at.micro)
        }
    }
}

/// The whole answer to one statement.
pub fn all<P: Protocol>(answer: QueryResult<'_, '_, '_, P>) -> Result<Vec<Row>, Failure> {
    answer.map(|found| row(found.map_err(|error| failed(&error))?)).collect()
}

/// Reads the answers to all statements of a script, for their errors.
pub fn drain<P: Protocol>(mut answers: QueryResult<'_, '_, '_, P>) -> Result<(), Failure> {
    while let Some(answer) = answers.iter() {
        for found in answer {
            found.map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

/// Of either protocol: the text protocol has bytes for everything.
fn row(answer: Answer) -> Result<Row, Failure> {
    let columns = answer.columns();
    let fields = answer.unwrap().into_iter().zip(columns.iter()).map(|(wire, column)| field(wire, column));
    Ok(Row(fields.collect::<Result<_, _>>()?))
}

fn field(wire: Wire, column: &Column) -> Result<Value, Failure> {
    match wire {
        Wire::NULL => Ok(Value::Null),
        Wire::Int(number) => Ok(Value::Int(number)),
        Wire::UInt(number) => {
            i64::try_from(number).map(Value::Int).map_err(|_| unheld(column, &number.to_string()))
        }
        Wire::Float(number) => Ok(Value::Float(number.into())),
        Wire::Double(number) => Ok(Value::Float(number)),
        Wire::Date(year, month, day, hour, minute, second, micro) => {
            Ok(Value::Time(micros(year.into(), [month, day, hour, minute, second].map(u32::from), micro)))
        }
        Wire::Bytes(bytes) => {
            let text = String::from_utf8(bytes).map_err(|_| unheld(column, "a text that is not UTF-8"))?;
            written(text, column)
        }
        Wire::Time(..) => Err(unheld(column, "a time of day")),
    }
}

fn written(text: String, column: &Column) -> Result<Value, Failure> {
    use ColumnType::{
        MYSQL_TYPE_DATETIME, MYSQL_TYPE_DECIMAL, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_INT24,
        MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_SHORT, MYSQL_TYPE_TIMESTAMP,
        MYSQL_TYPE_TINY,
    };
    let read = match column.column_type() {
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_INT24 | MYSQL_TYPE_LONG | MYSQL_TYPE_LONGLONG => {
            text.parse().ok().map(Value::Int)
        }
        MYSQL_TYPE_DECIMAL | MYSQL_TYPE_NEWDECIMAL => exact(&text),
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => text.parse().ok().map(Value::Float),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => Civil::parse(&text).map(|at| Value::Time(at.micros())),
        _ => return Ok(Value::Text(text)),
    };
    read.ok_or_else(|| unheld(column, &text))
}

/// `-12.30` → -1230 at scale 2.
fn exact(text: &str) -> Option<Value> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{behind}").parse().ok()?;
    Some(Value::Decimal { unscaled, scale: u8::try_from(behind.len()).ok()? })
}

/// Of month, day, hour, minute and second.
fn micros(year: i64, [month, day, hour, minute, second]: [u32; 5], micro: u32) -> i64 {
    Civil { year, month, day, hour, minute, second, micro }.micros()
}

fn unheld(column: &Column, what: &str) -> Failure {
    Failure::foreign(format!(
        "the column {} of an answer holds what no workload stores: {what}",
        column.name_str()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_keeps_its_digits() {
        assert_eq!(exact("-0.05"), Some(Value::Decimal { unscaled: -5, scale: 2 }));
        assert_eq!(exact("1234"), Some(Value::Decimal { unscaled: 1234, scale: 0 }));
        assert_eq!(exact("99999999999999999999.00"), None);
    }

    #[test]
    fn a_written_instant_is_the_sent_one() {
        for at in [0, 1_738_367_999_000_001, -1, 951_782_400_000_000] {
            let Wire::Date(year, month, day, hour, minute, second, micro) = sent(&Value::Time(at)) else {
                panic!()
            };
            let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}");
            assert_eq!(Civil::parse(&text).map(Civil::micros), Some(at), "{text}");
        }
    }
}
