//! Rows into a table by INSERTs of many rows each.

use std::io::Write;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::failure::failed;
use crate::oltp::civil::Civil;
use crate::oltp::tsv::{digits, instant};
use crate::oltp::{Failure, Rows, Table};

/// Far below any server's `max_allowed_packet`.
const BLOCK: usize = 1 << 19;

/// How many rows there were. The transaction is the caller's to end.
pub fn insert(
    on: &mut Conn,
    table: &Table,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let head = format!("INSERT INTO {} ({}) VALUES ", table.name, columns.join(","));
    let mut inserts = Inserts { on, text: head.clone().into_bytes(), head: head.len(), open: false, rows: 0 };
    fill(&mut inserts)?;
    inserts.send()?;
    Ok(inserts.rows)
}

struct Inserts<'a> {
    on: &'a mut Conn,
    text: Vec<u8>,
    /// The length of what each statement begins with.
    head: usize,
    /// Within a row.
    open: bool,
    rows: u64,
}

impl Inserts<'_> {
    fn field(&mut self) -> &mut Vec<u8> {
        let before = match (self.open, self.text.len() == self.head) {
            (true, _) => ",",
            (false, true) => "(",
            (false, false) => ",(",
        };
        self.open = true;
        self.text.extend_from_slice(before.as_bytes());
        &mut self.text
    }

    fn send(&mut self) -> Result<(), Failure> {
        if self.text.len() > self.head {
            let text =
                std::str::from_utf8(&self.text).map_err(|error| Failure::foreign(error.to_string()))?;
            self.on.query_drop(text).map_err(|error| failed(&error))?;
            self.text.truncate(self.head);
        }
        Ok(())
    }
}

impl Rows for Inserts<'_> {
    fn int(&mut self, number: i64) {
        digits(self.field(), number, 0);
    }

    fn float(&mut self, number: f64) {
        let _ = write!(self.field(), "{number:e}"); // a Vec takes all
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        digits(self.field(), unscaled, scale.into());
    }

    fn text(&mut self, text: &str) {
        let field = self.field();
        field.push(b'\'');
        for byte in text.bytes() {
            if byte == b'\'' {
                field.push(byte);
            }
            field.push(byte);
        }
        field.push(b'\'');
    }

    fn time(&mut self, micros: i64) {
        let field = self.field();
        field.push(b'\'');
        instant(field, Civil::at(micros));
        field.push(b'\'');
    }

    fn null(&mut self) {
        self.field().extend_from_slice(b"NULL");
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.text.push(b')');
        self.open = false;
        self.rows += 1;
        if self.text.len() >= BLOCK { self.send() } else { Ok(()) }
    }
}
