//! A transaction that says that it is one statement is one, whatever it is answered.

use std::collections::BTreeMap;

use crate::oltp::{
    Connection, Dialect, Failure, NAMES, Options, Random, Row, Rows, Statement, Table, Value, find,
};

/// Finds nothing, changes so many rows, and counts.
struct Counting {
    changes: u64,
    statements: usize,
}

impl Connection for Counting {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        Ok((String::new(), String::new()))
    }

    fn begin(&mut self, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn rows(&mut self, _: &'static Statement, _: &[Value]) -> Result<Vec<Row>, Failure> {
        self.statements += 1;
        Ok(Vec::new())
    }

    fn run(&mut self, _: &'static Statement, _: &[Value]) -> Result<u64, Failure> {
        self.statements += 1;
        Ok(self.changes)
    }

    fn script(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn ask(&mut self, _: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        Ok((Vec::new(), Vec::new()))
    }

    fn load(
        &mut self,
        _: &Table,
        _: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        Ok(0)
    }
}

#[test]
fn what_is_single_is_one_statement() {
    let mut singles = BTreeMap::new();
    for name in NAMES {
        let workload = find(name, 1.0, 1, Options::default()).unwrap();
        for (number, kind) in workload.kinds().iter().enumerate() {
            for draw in 0..50 {
                let transaction = workload.draw(number, &mut Random::at(7, &[draw]), None);
                if !transaction.is_single() {
                    continue;
                }
                for changes in [0, 1] {
                    let mut on = Counting { changes, statements: 0 };
                    let _ = transaction.run(&mut on); // nothing is found: that may be a failure
                    assert_eq!(on.statements, 1, "{name}: {}", kind.name);
                }
                singles.insert((*name, kind.name), ());
            }
        }
    }
    let of = |name: &str| singles.keys().filter(|(workload, _)| *workload == name).count();
    assert_eq!(["tpcc", "tatp", "seats", "epinions", "ycsb"].map(of), [0, 3, 0, 8, 5]);
}
