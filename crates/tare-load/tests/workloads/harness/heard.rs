//! What a transaction asks for, written down instead of being answered: two draws can be held against each other.

use tare_load::oltp::{Connection, Dialect, Failure, Random, Row, Rows, Statement, Table, Value, Workload};

/// Statements and parameters of arrivals 0..count of one seed, of each kind in turn.
pub fn heard(workload: &dyn Workload, seed: u64, count: u64) -> Vec<String> {
    let mut listener = Listener::default();
    for arrival in 0..count {
        let kind = (arrival % workload.kinds().len() as u64) as usize;
        workload.draw(kind, &mut Random::at(seed, &[arrival]), None).run(&mut listener).unwrap();
    }
    listener.0
}

#[derive(Default)]
struct Listener(Vec<String>);

impl Connection for Listener {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        Ok(Default::default())
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// One row of a 1, as good as any.
    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure> {
        self.run(statement, parameters)?;
        Ok(vec![Row(vec![Value::Int(1)])])
    }

    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        self.0.push(format!("{} {parameters:?}", statement.text(self.dialect())));
        Ok(1)
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        unreachable!("a transaction sends statements")
    }

    fn ask(&mut self, _sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        unreachable!("a transaction sends statements")
    }

    fn load(
        &mut self,
        _table: &Table,
        _fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        unreachable!("a transaction sends statements")
    }
}
