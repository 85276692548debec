//! A table as its generator writes it.

use tare_load::oltp::{Failure, Rows, Value, Workload};

/// Rows in their order.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    pub rows: Vec<Vec<Value>>,
    row: Vec<Value>,
}

impl Table {
    /// A column of whole numbers.
    pub fn ints(&self, column: usize) -> Vec<i64> {
        self.rows
            .iter()
            .map(|row| if let Value::Int(number) = row[column] { number } else { panic!("{row:?}") })
            .collect()
    }
}

impl Rows for Table {
    fn int(&mut self, number: i64) {
        self.row.push(Value::Int(number));
    }

    fn float(&mut self, number: f64) {
        self.row.push(Value::Float(number));
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.row.push(Value::Decimal { unscaled, scale });
    }

    fn text(&mut self, text: &str) {
        self.row.push(text.into());
    }

    fn time(&mut self, micros: i64) {
        self.row.push(Value::Time(micros));
    }

    fn null(&mut self) {
        self.row.push(Value::Null);
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.rows.push(std::mem::take(&mut self.row));
        Ok(())
    }
}

/// Every table of a workload, each row as wide as its table.
pub fn filled(workload: &dyn Workload) -> Vec<Table> {
    let mut tables: Vec<Table> = workload.tables().iter().map(|_| Table::default()).collect();
    for part in workload.parts() {
        workload.fill(part, &mut tables[part.table]).unwrap();
    }
    for (table, made) in workload.tables().iter().zip(&tables) {
        assert!(made.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
    }
    tables
}
