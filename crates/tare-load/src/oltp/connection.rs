//! What a DBMS owes the driver: one blocking connection a thread.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::oltp::{Dialect, Failure, Row, Rows, Statement, Table, Value};

/// SQL's four levels, as asked of the DBMS; SQLite is always serializable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// A transaction, at the isolation level the connection was opened with. `writes`: SQLite takes its lock at once.
    fn begin(&mut self, writes: bool) -> Result<(), Failure>;

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

    /// `fill` writes rows into the table by the DBMS's fastest door, in one transaction: all or none.
    /// How many there were.
    fn load(
        &mut self,
        table: &Table,
        fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure>;
}
