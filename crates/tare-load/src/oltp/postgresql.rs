//! PostgreSQL over its own protocol on a blocking socket: one write and one read for a statement, or for a batch.
//!
//! BEGIN travels with the first statement of its transaction, so it costs no round trip. Statements are prepared under
//! names; without a name or as text they need nothing of the session, so that a pooler may change the backend.

mod address;
mod ask;
mod copy;
mod frame;
mod numeric;
mod password_file;
mod prepared;
mod refused;
mod session;
mod simple;
mod tls;
mod types;
mod wire;

use std::collections::HashMap;
use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::oltp::{
    Connection, Dialect, Failure, Isolation, Protocol, Row, Rows, Statement, Table, Trouble, Value,
};

use self::address::Address;
use self::frame::{Frame, is_of_begin};
use self::prepared::Prepared;
use self::refused::malformed;
use self::simple::{Answer, Templates};
use self::tls::Attempt;
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
pub fn connect(
    url: &str,
    isolation: Isolation,
    protocol: Protocol,
    timeout: Duration,
) -> Result<Box<dyn Connection>, Failure> {
    let address = Address::read(url, &|name| std::env::var(name).ok())?;
    let mut refused: Option<Failure> = None;
    for attempt in address.attempts() {
        match open(&address, *attempt, isolation, protocol, timeout) {
            Ok(connection) => return Ok(Box::new(connection)),
            Err(failure) if failure.trouble != Trouble::Error => return Err(failure),
            // the first way says more of what is wrong, unless it is the way itself
            Err(failure) => refused = Some(refused.map_or(failure.clone(), |first| either(first, &failure))),
        }
    }
    Err(refused.unwrap_or_else(|| Failure::foreign("there is no way to connect")))
}

fn open(
    address: &Address,
    attempt: Attempt,
    isolation: Isolation,
    protocol: Protocol,
    timeout: Duration,
) -> Result<PostgreSql, Failure> {
    let mut wire = Wire::connect(address, attempt, timeout)?;
    let frame = session::open(&mut wire, address, isolation, protocol).map_err(|failure| {
        let text = format!("cannot connect to {address}: {failure}");
        failure.reworded(text)
    })?;
    let (prepared, templates) = (HashMap::new(), Templates::default());
    Ok(PostgreSql { wire, protocol, frame, prepared, templates, begin_due: false })
}

fn either(first: Failure, second: &Failure) -> Failure {
    if first.text == second.text {
        return first;
    }
    let text = format!("{first}; the other way (TLS or none): {second}");
    first.reworded(text)
}

struct PostgreSql {
    wire: Wire,
    protocol: Protocol,
    frame: Frame,
    /// By the statement's address.
    prepared: HashMap<usize, Prepared>,
    /// For the simple protocol.
    templates: Templates,
    /// A transaction was begun here of which the server does not know yet.
    begin_due: bool,
}

impl Connection for PostgreSql {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        self.begin(false)?;
        let (_, rows) = self.ask(
            "SELECT 'PostgreSQL ' || current_setting('server_version'), current_setting('transaction_isolation')",
        )?;
        self.commit()?;
        let row = rows.first().ok_or_else(|| Failure::foreign("the server says nothing of itself"))?;
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    }

    fn encryption(&mut self) -> Option<String> {
        self.wire.encryption()
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        self.begin_due = true;
        self.wire.usable()
    }

    fn begin_alone(&mut self, _writes: bool) -> Result<(), Failure> {
        self.wire.usable()
    }

    fn isolation_alone(&mut self) -> Result<Option<String>, Failure> {
        if !self.protocol.is_free_of_the_session() {
            return Ok(None);
        }
        let (_, rows) = self.ask("SELECT current_setting('default_transaction_isolation')")?;
        let row =
            rows.first().ok_or_else(|| Failure::foreign("the server tells no default isolation level"))?;
        Ok(Some(row.text(0)?.to_owned()))
    }

    fn round_trips(&self) -> u64 {
        self.wire.round_trips()
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
        if self.protocol == Protocol::Simple {
            return self.as_text(&[(statement, parameters)]).map(|answer| answer.rows);
        }
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
        let mut changed = Vec::with_capacity(1);
        if self.protocol == Protocol::Simple {
            changed = self.as_text(&[(statement, parameters)])?.changed;
        } else {
            self.prepare(statement)?;
            self.request(statement, parameters)?;
            self.count(&mut changed)?;
        }
        Ok(changed.first().copied().unwrap_or(0))
    }

    fn batch(&mut self, work: &[(&'static Statement, Vec<Value>)]) -> Result<Vec<u64>, Failure> {
        if self.protocol == Protocol::Simple {
            let work: Vec<_> =
                work.iter().map(|(statement, parameters)| (*statement, parameters.as_slice())).collect();
            return if work.is_empty() { Ok(Vec::new()) } else { Ok(self.as_text(&work)?.changed) };
        }
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
    /// Statements as text, in one message, and BEGIN before them if it is due.
    fn as_text(&mut self, work: &[(&'static Statement, &[Value])]) -> Result<Answer, Failure> {
        self.wire.usable()?;
        let mut text = Vec::with_capacity(256);
        if self.begin_due {
            text.extend_from_slice(self.frame.begin_text().as_bytes());
        }
        for (statement, parameters) in work {
            self.templates.write(statement, parameters, &mut text)?;
        }
        self.begin_due = false;
        simple::exchange(&mut self.wire, &text)
    }

    /// A round trip, when it is first seen.
    fn prepare(&mut self, statement: &'static Statement) -> Result<(), Failure> {
        self.wire.usable()?;
        if !self.prepared.contains_key(&key(statement)) {
            let name = match self.protocol {
                Protocol::Named => format!("s{}", self.prepared.len()),
                _ => String::new(),
            };
            let prepared = Prepared::new(&mut self.wire, name, &statement.text(Dialect::PostgreSql))?;
            self.prepared.insert(key(statement), prepared);
        }
        Ok(())
    }

    /// To be sent with those before it. If it cannot be, neither are they.
    fn request(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<(), Failure> {
        if self.begin_due && self.wire.requested() == 0 {
            self.frame.begin(&mut self.wire.out);
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
                if !is_of_begin(tag) {
                    changed.push(rows_of(tag));
                }
            }
            Ok(())
        })
    }

    fn begin_now(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.begin_due) {
            if self.protocol == Protocol::Simple {
                simple::exchange(&mut self.wire, self.frame.begin_text().as_bytes())?;
            } else {
                self.frame.begin(&mut self.wire.out);
                self.wire.exchange(|_| Ok(()))?;
            }
        }
        self.wire.usable()
    }

    /// The server's word for what became of the transaction; None: it knows of none.
    fn end(&mut self, how: &str) -> Result<Option<String>, Failure> {
        self.wire.usable()?;
        if std::mem::take(&mut self.begin_due) || self.wire.status() == IDLE {
            return Ok(None);
        }
        let mut word = None;
        let hear = |message| {
            if let Message::CommandComplete(done) = message {
                word = Some(done.tag().unwrap_or_default().to_owned());
            }
            Ok(())
        };
        if self.protocol == Protocol::Simple {
            frontend::query(how, &mut self.wire.out).map_err(malformed)?;
            self.wire.send()?;
            self.wire.answer(hear)?;
        } else {
            self.frame.end(how, &mut self.wire.out);
            self.wire.exchange(hear)?;
        }
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
