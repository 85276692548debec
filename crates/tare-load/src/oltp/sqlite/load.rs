//! Rows into a table: one prepared INSERT, its fields bound as they come.

use rusqlite::ToSql;
use rusqlite::types::Null;

use super::failure::failed;
use crate::oltp::{Failure, Rows, Table};

/// How many there were. The transaction is the caller's.
pub fn insert(
    on: &rusqlite::Connection,
    table: &Table,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let marks = vec!["?"; names.len()].join(",");
    let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, names.join(","));
    let statement = on.prepare(&sql).map_err(|error| failed(&error))?;
    let mut inserts =
        Inserts { table: table.name, width: names.len(), statement, field: 0, rows: 0, failure: None };
    fill(&mut inserts)?;
    Ok(inserts.rows)
}

struct Inserts<'a> {
    table: &'a str,
    width: usize,
    statement: rusqlite::Statement<'a>,
    field: usize,
    rows: u64,
    /// Of a field, told at the row's end.
    failure: Option<Failure>,
}

impl Inserts<'_> {
    fn bind(&mut self, value: impl ToSql) {
        self.field += 1;
        if self.field <= self.width
            && let Err(error) = self.statement.raw_bind_parameter(self.field, value)
        {
            self.failure = Some(failed(&error));
        }
    }
}

impl Rows for Inserts<'_> {
    fn int(&mut self, number: i64) {
        self.bind(number);
    }

    fn float(&mut self, number: f64) {
        self.bind(number);
    }

    fn decimal(&mut self, unscaled: i64, _scale: u8) {
        self.bind(unscaled);
    }

    fn text(&mut self, text: &str) {
        self.bind(text);
    }

    fn time(&mut self, micros: i64) {
        self.bind(micros);
    }

    fn null(&mut self) {
        self.bind(Null);
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let fields = std::mem::take(&mut self.field);
        if fields != self.width {
            let (table, width) = (self.table, self.width);
            return Err(Failure::foreign(format!(
                "a row of {fields} fields for {table}, which has {width} columns"
            )));
        }
        self.statement.raw_execute().map_err(|error| failed(&error))?;
        self.rows += 1;
        Ok(())
    }
}
