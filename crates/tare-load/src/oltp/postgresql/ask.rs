//! The simple query protocol: any SQL, all answers as text.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, Message};
use postgres_protocol::message::frontend;

use crate::oltp::{Failure, Row, Value};

use super::refused::malformed;
use super::wire::Wire;

/// Of several statements, the last answer that has columns. They are one transaction.
pub(super) fn ask(wire: &mut Wire, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
    frontend::query(sql, &mut wire.out).map_err(|_| Failure::foreign("the SQL holds a zero byte"))?;
    wire.send()?;
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    wire.answer(|message| {
        match message {
            Message::RowDescription(body) => {
                names =
                    body.fields().map(|field| Ok(field.name().to_owned())).collect().map_err(malformed)?;
                rows.clear();
            }
            Message::DataRow(body) => rows.push(row(&body)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok((names, rows))
}

fn row(body: &DataRowBody) -> Result<Row, Failure> {
    let text = |bytes: &[u8]| Value::Text(String::from_utf8_lossy(bytes).into_owned());
    let fields =
        body.ranges().map(|place| Ok(place.map_or(Value::Null, |place| text(&body.buffer()[place]))));
    fields.collect().map(Row).map_err(malformed)
}
