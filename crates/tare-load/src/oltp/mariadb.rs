//! MariaDB and MySQL, over the binary protocol; over the text protocol alone if so requested.
//!
//! A transaction begins with its first statement, so BEGIN costs no message: the session commits by itself only while
//! transactions of one statement are sent alone. Outside of `begin` … `commit` each statement is committed at once.

mod bulk;
mod failure;
mod insert;
mod load;
mod open;
mod place;
mod prepared;
mod text;
mod values;

use std::collections::HashMap;
use std::time::Duration;

use mysql::Conn;
use mysql::prelude::Queryable;

use crate::oltp::{
    Connection, Dialect, Failure, Isolation, Protocol, Row, Rows, Statement, Table, Trouble, Value,
};
use failure::failed;
use prepared::Prepared;
use text::Templates;

struct MariaDb {
    inner: Conn,
    protocol: Protocol,
    templates: Templates,
    prepared: HashMap<usize, Prepared>,
    in_transaction: bool,
    /// The session's `autocommit`.
    commits_itself: bool,
    round_trips: u64,
}

/// To a server. `timeout`: until it is ready for statements.
pub fn connect(
    url: &str,
    isolation: Isolation,
    protocol: Protocol,
    timeout: Duration,
) -> Result<Box<dyn Connection>, Failure> {
    let mut refused = None;
    for options in place::options(url, timeout)? {
        match open::open(options, isolation, timeout) {
            Ok(inner) => return Ok(Box::new(MariaDb::new(inner, protocol))),
            Err(failure) if failure.trouble != Trouble::Error => return Err(refused.unwrap_or(failure)),
            // what the first way is answered says more, unless a user must encrypt
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    Err(refused.unwrap_or_else(|| Failure::foreign("there is no way to connect")))
}

impl MariaDb {
    fn new(inner: Conn, protocol: Protocol) -> Self {
        Self {
            inner,
            protocol,
            templates: Templates::default(),
            prepared: HashMap::new(),
            in_transaction: false,
            commits_itself: false,
            round_trips: 0,
        }
    }

    fn end(&mut self, word: &str) -> Result<(), Failure> {
        self.in_transaction = false;
        if self.commits_itself {
            return Ok(());
        }
        self.round_trips += 1;
        self.inner.query_drop(word).map_err(|error| failed(&error))
    }

    /// A message of its own, where transactions of one statement and of several take turns.
    fn commit_itself(&mut self, on: bool) -> Result<(), Failure> {
        if self.commits_itself == on {
            return Ok(());
        }
        self.round_trips += 1;
        let setting = if on { "SET autocommit = 1" } else { "SET autocommit = 0" };
        self.inner.query_drop(setting).map_err(|error| failed(&error))?;
        self.commits_itself = on;
        Ok(())
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

    fn encryption(&mut self) -> Option<String> {
        let encryption = open::encryption(&mut self.inner);
        let _ = self.settle(()); // what breaks the connection shows in the next statement
        encryption
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        self.commit_itself(false)?;
        self.in_transaction = true;
        Ok(())
    }

    fn begin_alone(&mut self, _writes: bool) -> Result<(), Failure> {
        self.commit_itself(true)?;
        self.in_transaction = true;
        Ok(())
    }

    fn round_trips(&self) -> u64 {
        self.round_trips
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.end("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.end("ROLLBACK")
    }

    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure> {
        let rows = if self.protocol == Protocol::Simple {
            self.round_trips += 1;
            self.templates.rows(&mut self.inner, statement, parameters)?
        } else {
            let ready = prepared::ready(&mut self.prepared, &mut self.inner, statement, parameters)?;
            self.round_trips += 1;
            values::all(ready.execute(&mut self.inner, parameters)?)?
        };
        self.settle(rows)
    }

    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        let changed = if self.protocol == Protocol::Simple {
            self.round_trips += 1;
            self.templates.run(&mut self.inner, statement, parameters)?
        } else {
            let ready = prepared::ready(&mut self.prepared, &mut self.inner, statement, parameters)?;
            self.round_trips += 1;
            ready.execute(&mut self.inner, parameters)?.affected_rows()
        };
        self.settle(changed)
    }

    fn batch(&mut self, work: &[(&'static Statement, Vec<Value>)]) -> Result<Vec<u64>, Failure> {
        if let [(statement, parameters)] = work {
            return self.run(statement, parameters).map(|changed| vec![changed]);
        }
        let inserted = match self.protocol {
            Protocol::Simple => None,
            _ => bulk::inserts(&mut self.prepared, &mut self.inner, work)?,
        };
        let (changed, messages) = match inserted {
            Some(changed) => (changed, 1),
            None => self.templates.batch(&mut self.inner, work)?,
        };
        self.round_trips += messages;
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
            Ok(rows) if self.in_transaction => Ok(rows),
            Ok(rows) => self.commit().map(|()| rows),
            Err(failure) if self.in_transaction => Err(failure),
            Err(failure) => {
                let _ = self.rollback(); // if that fails the connection is gone, and its transaction with it
                Err(failure)
            }
        }
    }
}
