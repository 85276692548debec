//! MariaDB and MySQL, over the binary protocol.
//!
//! The session commits by itself never: a transaction begins with its first statement, so BEGIN costs no message.
//! Outside of `begin` … `commit` each statement is committed at once.

mod bulk;
mod failure;
mod insert;
mod load;
mod open;
mod place;
mod placeholders;
mod prepared;
mod values;

use std::collections::HashMap;
use std::time::Duration;

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::oltp::{Connection, Dialect, Failure, Isolation, Row, Rows, Statement, Table, Value};
use failure::failed;
use prepared::Prepared;

struct MariaDb {
    inner: Conn,
    prepared: HashMap<usize, Prepared>,
    in_transaction: bool,
}

/// To a server. `timeout`: until it is ready for statements.
pub fn connect(url: &str, isolation: Isolation, timeout: Duration) -> Result<Box<dyn Connection>, Failure> {
    let inner = open::open(place::options(url, timeout)?, isolation, timeout)?;
    Ok(Box::new(MariaDb { inner, prepared: HashMap::new(), in_transaction: false }))
}

impl MariaDb {
    fn end(&mut self, word: &str) -> Result<(), Failure> {
        self.in_transaction = false;
        self.inner.query_drop(word).map_err(|error| failed(&error))
    }

    fn settle<T>(&mut self, done: T) -> Result<T, Failure> {
        if !self.in_transaction {
            self.end("COMMIT")?;
        }
        Ok(done)
    }
}

impl Connection for MariaDb {
    fn dialect(&self) -> Dialect {
        Dialect::MariaDb
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        open::described(&mut self.inner)
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.end("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.end("ROLLBACK")
    }

    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure> {
        let ready = prepared::ready(&mut self.prepared, &mut self.inner, statement, parameters)?;
        let answer = ready.execute(&mut self.inner, parameters)?;
        let rows = values::all(answer)?;
        self.settle(rows)
    }

    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        let ready = prepared::ready(&mut self.prepared, &mut self.inner, statement, parameters)?;
        let changed = ready.execute(&mut self.inner, parameters)?.affected_rows();
        self.settle(changed)
    }

    fn batch(&mut self, work: &[(&'static Statement, Vec<Value>)]) -> Result<Vec<u64>, Failure> {
        let changed = bulk::batch(&mut self.prepared, &mut self.inner, work)?;
        self.settle(changed)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        values::drain(self.inner.query_iter(sql).map_err(|error| failed(&error))?)?;
        self.settle(())
    }

    fn ask(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        let answer = self.inner.query_iter(sql).map_err(|error| failed(&error))?;
        let names = answer.columns().as_ref().iter().map(|column| column.name_str().into_owned()).collect();
        let rows = values::all(answer)?;
        self.settle((names, rows))
    }

    fn load(
        &mut self,
        table: &Table,
        fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        match load::load(&mut self.inner, table, fill) {
            Ok(rows) => self.commit().map(|()| rows),
            Err(failure) => {
                let _ = self.rollback(); // if that fails the connection is gone, and its transaction with it
                Err(failure)
            }
        }
    }
}
