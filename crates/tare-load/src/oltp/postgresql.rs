//! PostgreSQL over its own protocol on a blocking socket: one write and one read for a statement, or for a batch.
//!
//! BEGIN travels with the first statement of its transaction, so it costs no round trip.

mod address;
mod ask;
mod copy;
mod numeric;
mod password_file;
mod prepared;
mod refused;
mod session;
mod types;
mod wire;

use std::collections::HashMap;
use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::oltp::{Connection, Dialect, Failure, Isolation, Row, Rows, Statement, Table, Trouble, Value};

use self::address::Address;
use self::prepared::Prepared;
use self::wire::Wire;

/// Requests of a batch that are sent before their answers are read: both fit into a socket's buffers, so neither
/// side waits for the other to read.
const UNREAD: usize = 1 << 15;

/// ReadyForQuery's word for a session without a transaction.
const IDLE: u8 = b'I';

/// Opens a connection to `url` as libpq reads it: `postgresql://user:password@host:port/database?parameter=value`.
///
/// # Errors
/// A URL that cannot be read, no server there, or a server that takes no (more) connections. Never says the password.
pub fn connect(url: &str, isolation: Isolation, timeout: Duration) -> Result<Box<dyn Connection>, Failure> {
    let address = Address::read(url, &|name| std::env::var(name).ok())?;
    let mut wire = Wire::connect(&address, timeout)?;
    session::open(&mut wire, &address, isolation).map_err(|failure| {
        Failure::new(failure.trouble, format!("cannot connect to {address}: {failure}"))
    })?;
    Ok(Box::new(PostgreSql { wire, prepared: HashMap::new(), begin_due: false }))
}

struct PostgreSql {
    wire: Wire,
    /// By the statement's address.
    prepared: HashMap<usize, Prepared>,
    /// A transaction was begun here of which the server does not know yet.
    begin_due: bool,
}

impl Connection for PostgreSql {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        let (_, rows) = self.ask(
            "SELECT 'PostgreSQL ' || current_setting('server_version'), current_setting('transaction_isolation')",
        )?;
        let row = rows.first().ok_or_else(|| Failure::foreign("the server says nothing of itself"))?;
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        self.begin_due = true;
        self.wire.usable()
    }

    fn commit(&mut self) -> Result<(), Failure> {
        match self.end("commit")?.as_deref() {
            None | Some("COMMIT") => Ok(()),
            Some(other) => Err(Failure::new(
                Trouble::Error,
                format!("COMMIT was answered with {other}: a statement of the transaction had failed"),
            )),
        }
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.end("rollback").map(|_| ())
    }

    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure> {
        self.prepare(statement)?;
        self.request(statement, parameters)?;
        self.begin_due = false;
        let Self { wire, prepared, .. } = self;
        let prepared = &prepared[&key(statement)];
        let mut rows = Vec::new();
        wire.exchange(|message| {
            if let Message::DataRow(row) = message {
                rows.push(prepared.row(&row)?);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        self.prepare(statement)?;
        self.request(statement, parameters)?;
        let mut changed = Vec::with_capacity(1);
        self.count(&mut changed)?;
        Ok(changed.first().copied().unwrap_or(0))
    }

    fn batch(&mut self, work: &[(&'static Statement, Vec<Value>)]) -> Result<Vec<u64>, Failure> {
        for (statement, _) in work {
            self.prepare(statement)?;
        }
        let mut changed = Vec::with_capacity(work.len());
        for (statement, parameters) in work {
            self.request(statement, parameters)?;
            if self.wire.requested() >= UNREAD {
                self.count(&mut changed)?;
            }
        }
        if self.wire.requested() > 0 {
            self.count(&mut changed)?;
        }
        Ok(changed)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin_now()?;
        ask::ask(&mut self.wire, sql).map(|_| ())
    }

    fn ask(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        self.begin_now()?;
        ask::ask(&mut self.wire, sql)
    }

    fn load(
        &mut self,
        table: &Table,
        fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        self.begin_now()?;
        copy::copy(&mut self.wire, table, fill)
    }
}

impl PostgreSql {
    /// A round trip, when it is first seen.
    fn prepare(&mut self, statement: &'static Statement) -> Result<(), Failure> {
        self.wire.usable()?;
        if !self.prepared.contains_key(&key(statement)) {
            let name = format!("s{}", self.prepared.len());
            let prepared = Prepared::new(&mut self.wire, name, &statement.text(Dialect::PostgreSql))?;
            self.prepared.insert(key(statement), prepared);
        }
        Ok(())
    }

    /// To be sent with those before it. If it cannot be, neither are they.
    fn request(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<(), Failure> {
        if self.begin_due && self.wire.requested() == 0 {
            session::request(&mut self.wire.out, "begin");
        }
        let done = self.prepared[&key(statement)].request(parameters, &mut self.wire.out);
        if done.is_err() {
            self.wire.out.clear();
        }
        done
    }

    /// Sends what was requested; how many rows each changed.
    fn count(&mut self, changed: &mut Vec<u64>) -> Result<(), Failure> {
        self.begin_due = false;
        self.wire.exchange(|message| {
            if let Message::CommandComplete(done) = message {
                let tag = done.tag().unwrap_or_default();
                if tag != "BEGIN" {
                    changed.push(rows_of(tag));
                }
            }
            Ok(())
        })
    }

    fn begin_now(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.begin_due) {
            session::request(&mut self.wire.out, "begin");
            self.wire.exchange(|_| Ok(()))?;
        }
        self.wire.usable()
    }

    /// The server's word for what became of the transaction; None: it knows of none.
    fn end(&mut self, how: &str) -> Result<Option<String>, Failure> {
        self.wire.usable()?;
        if std::mem::take(&mut self.begin_due) || self.wire.status() == IDLE {
            return Ok(None);
        }
        session::request(&mut self.wire.out, how);
        let mut word = None;
        self.wire.exchange(|message| {
            if let Message::CommandComplete(done) = message {
                word = Some(done.tag().unwrap_or_default().to_owned());
            }
            Ok(())
        })?;
        Ok(word)
    }
}

impl Drop for PostgreSql {
    fn drop(&mut self) {
        if self.wire.usable().is_ok() {
            self.wire.out.clear();
            frontend::terminate(&mut self.wire.out);
            let _ = self.wire.send(); // the server sees the socket close, too
        }
    }
}

fn key(statement: &'static Statement) -> usize {
    std::ptr::from_ref(statement).addr()
}

/// `UPDATE 3`, `INSERT 0 1`: the last word.
fn rows_of(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0)
}
