//! What a DBMS owes the driver: one blocking connection a thread.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::oltp::{Dialect, Failure, Row, Rows, Statement, Table, Value};

/// SQL's four levels, as asked of the DBMS; SQLite is always serializable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// SQL's READ COMMITTED.
    ReadCommitted,
    /// SQL's REPEATABLE READ.
    RepeatableRead,
    /// SQL's SERIALIZABLE.
    Serializable,
}

/// How long a lock is waited for until it is `Trouble::LockTimeout`. Far above any response time that is meant, and
/// short enough that a session whose client was killed does not stand in the way for long.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Between `begin` and `commit` or `rollback`, after a failure only `rollback` is called.
pub trait Connection: Send {
    /// Whose SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// The server's name and version, and the isolation level at work, both in the DBMS's words.
    fn described(&mut self) -> Result<(String, String), Failure>;

    /// Protocol and cipher of the session. None: it is not encrypted.
    fn encryption(&mut self) -> Option<String> {
        None
    }

    /// A transaction, at the isolation level the connection was opened with. `writes`: SQLite takes its lock at once.
    fn begin(&mut self, writes: bool) -> Result<(), Failure>;

    /// The next statement is a transaction of its own, which the DBMS commits by itself. Called in place of `begin`;
    /// `commit` or `rollback` follows all the same.
    fn begin_alone(&mut self, writes: bool) -> Result<(), Failure> {
        self.begin(writes)
    }

    /// Level of a statement that `begin_alone` sends, where a server's default decides it. None: the level of the connection.
    fn isolation_alone(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Requests whose answers were waited for, since the connection was opened. 0: the DBMS is within the process.
    fn round_trips(&self) -> u64 {
        0
    }

    /// Durable when it returns, as far as the DBMS is set so.
    fn commit(&mut self) -> Result<(), Failure>;

    /// Also after a failure; leaves the connection ready, or says that it is lost.
    fn rollback(&mut self) -> Result<(), Failure>;

    /// The whole answer. Prepares the statement when it is first seen.
    fn rows(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, Failure>;

    /// How many rows it changed.
    fn run(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, Failure>;

    /// Each in its order; sent together where the DBMS's protocol can, else one after the other.
    /// How many rows each changed. The first failure ends it.
    fn batch(&mut self, work: &[(&'static Statement, Vec<Value>)]) -> Result<Vec<u64>, Failure> {
        work.iter().map(|(statement, parameters)| self.run(statement, parameters)).collect()
    }

    /// The first row of an answer. None: there is none.
    fn row(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Option<Row>, Failure> {
        Ok(self.rows(statement, parameters)?.into_iter().next())
    }

    /// Statements of no parameters, in the DBMS's own words, outside a transaction: DDL, settings.
    fn script(&mut self, sql: &str) -> Result<(), Failure>;

    /// The whole answer to a query of no parameters, with the columns' names; unprepared.
    fn ask(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure>;

    /// `fill` writes rows into the table by the DBMS's fastest door, in one transaction: all or none. Between `begin` and
    /// `commit` they belong to that transaction.
    /// How many there were.
    fn load(
        &mut self,
        table: &Table,
        fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure>;
}

/// A transaction of its own; what fails in it is rolled back.
pub(crate) fn in_transaction<T>(
    on: &mut dyn Connection,
    writes: bool,
    work: impl FnOnce(&mut dyn Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    on.begin(writes)?;
    match work(on) {
        Ok(done) => on.commit().map(|()| done),
        Err(failure) => {
            let _ = on.rollback(); // the failure reports a lost connection
            Err(failure)
        }
    }
}
