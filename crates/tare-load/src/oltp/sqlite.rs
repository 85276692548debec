//! SQLite, within the driver's own process: its CPU time is the driver's too.
//!
//! The journal is a write-ahead log, so that readers and the one writer do not wait for each other, and every commit is
//! synced to the disk (`synchronous = FULL`, SQLite's own default): a commit is as durable as on the other DBMSes. All
//! else is as SQLite has it, the cache of 2 MB a connection too.

mod busy;
mod failure;
mod load;
mod place;
mod values;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr;
use std::time::Duration;

use rusqlite::{CachedStatement, OpenFlags};

use crate::oltp::{Connection, Dialect, Failure, Isolation, Row, Rows, Statement, Table, Value};
use failure::failed;

/// More than any workload has.
const PREPARED: usize = 1024;

struct Sqlite {
    inner: rusqlite::Connection,
    /// By the statement's address.
    prepared: HashMap<usize, Prepared>,
}

/// SQLite numbers `$n` by where it first stands, not by n.
struct Prepared {
    text: String,
    /// The place among the parameters given of each that SQLite knows.
    order: Vec<usize>,
}

/// To a file that is there. `timeout`: while another process sets the journal. Every level is accepted: SQLite's
/// transactions are always serializable.
pub fn connect(url: &str, isolation: Isolation, timeout: Duration) -> Result<Box<dyn Connection>, Failure> {
    let _ = isolation;
    let file = place::file(url)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<rusqlite::Connection> {
        let inner = rusqlite::Connection::open_with_flags(&file, flags)?;
        inner.busy_timeout(timeout)?;
        inner.pragma_update(None, "journal_mode", "wal")?;
        inner.pragma_update(None, "synchronous", "full")?;
        inner.busy_handler(Some(busy::wait))?;
        inner.set_prepared_statement_cache_capacity(PREPARED);
        Ok(inner)
    };
    let inner = open().map_err(|error| {
        let said = failed(&error);
        let text = format!("SQLite cannot open {}: {said}", file.display());
        said.reworded(text)
    })?;
    Ok(Box::new(Sqlite { inner, prepared: HashMap::new() }))
}

impl Sqlite {
    fn script(&self, sql: &str) -> Result<(), Failure> {
        self.inner.execute_batch(sql).map_err(|error| failed(&error))
    }

    fn bound(
        &mut self,
        statement: &'static Statement,
        given: &[Value],
    ) -> Result<CachedStatement<'_>, Failure> {
        let known = match self.prepared.entry(ptr::from_ref(statement).addr()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Prepared::new(&self.inner, statement)?),
        };
        let mut ready = self.inner.prepare_cached(&known.text).map_err(|error| failed(&error))?;
        for (place, from) in known.order.iter().enumerate() {
            let value = given.get(*from).ok_or_else(|| missing(*from, &known.text))?;
            ready.raw_bind_parameter(place + 1, values::bound(value)).map_err(|error| failed(&error))?;
        }
        Ok(ready)
    }
}

impl Prepared {
    fn new(on: &rusqlite::Connection, statement: &'static Statement) -> Result<Self, Failure> {
        let text = statement.text(Dialect::Sqlite);
        let ready = on.prepare_cached(&text).map_err(|error| failed(&error))?;
        let order = (1..=ready.parameter_count())
            .map(|place| number(ready.parameter_name(place)).ok_or_else(|| unnumbered(&text)))
            .collect::<Result<_, _>>()?;
        drop(ready);
        Ok(Self { text, order })
    }
}

/// `$3` → 2.
fn number(name: Option<&str>) -> Option<usize> {
    name?.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

fn unnumbered(text: &str) -> Failure {
    Failure::foreign(format!("a parameter that is no $1, $2, …: {text}"))
}

fn missing(from: usize, text: &str) -> Failure {
    Failure::foreign(format!("no value was given for ${}: {text}", from + 1))
}

impl Connection for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        Ok((format!("SQLite {}", rusqlite::version()), "serializable (SQLite has no other)".to_owned()))
    }

    fn begin(&mut self, writes: bool) -> Result<(), Failure> {
        self.script(if writes { "BEGIN IMMEDIATE" } else { "BEGIN" })
    }

    fn begin_alone(&mut self, _writes: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        if self.inner.is_autocommit() { Ok(()) } else { self.script("COMMIT") }
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        // SQLite rolls back by itself when the disk is full, and has begun nothing when it was busy.
        if self.inner.is_autocommit() { Ok(()) } else { self.script("ROLLBACK") }
    }

    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure> {
        let mut ready = self.bound(statement, parameters)?;
        values::all(&mut ready)
    }

    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        let changed = self.bound(statement, parameters)?.raw_execute().map_err(|error| failed(&error))?;
        Ok(changed as u64)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        Self::script(self, sql)
    }

    fn ask(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        let mut ready = self.inner.prepare(sql).map_err(|error| failed(&error))?;
        let names = ready.column_names().into_iter().map(str::to_owned).collect();
        Ok((names, values::all(&mut ready)?))
    }

    fn load(
        &mut self,
        table: &Table,
        fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        if !self.inner.is_autocommit() {
            return load::insert(&self.inner, table, fill);
        }
        self.begin(true)?;
        let loaded = load::insert(&self.inner, table, fill).and_then(|rows| self.commit().map(|()| rows));
        if loaded.is_err() {
            self.rollback()?;
        }
        loaded
    }
}
