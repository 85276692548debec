//! What a workload owes: tables and their rows, transactions and how they are drawn, conditions that must hold.

use crate::oltp::{Connection, Failure, Random, Rows, Statement, Table};

/// A transaction type. Its place in `Workload::kinds` is its number everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// In snake case, as the mix names it: `new_order`.
    pub name: &'static str,
    /// Percent of the default mix.
    pub share: f64,
    /// Whether it may change anything.
    pub writes: bool,
    /// Seconds a user keys before it (closed loop, if asked for); 0: none.
    pub keying_s: f64,
    /// Mean seconds a user thinks after it; 0: none.
    pub think_s: f64,
}

/// Draws a transaction of one type: see `Workload::draw`.
pub(super) type Draw<W> = fn(&W, &mut Random, Option<u64>) -> Box<dyn Transaction>;

/// A row of a workload's table of types.
pub(super) struct TransactionType<W> {
    pub(super) kind: Kind,
    pub(super) draw: Draw<W>,
}

impl<W> TransactionType<W> {
    /// A type without keying and think times.
    pub(super) const fn new(name: &'static str, share: f64, writes: bool, draw: Draw<W>) -> Self {
        Self { kind: Kind { name, share, writes, keying_s: 0.0, think_s: 0.0 }, draw }
    }
}

/// The types of a table, in its order.
pub(super) const fn kinds<W, const N: usize>(table: &[TransactionType<W>; N]) -> [Kind; N] {
    let mut kinds = [table[0].kind; N];
    let mut number = 1;
    while number < N {
        kinds[number] = table[number].kind;
        number += 1;
    }
    kinds
}

/// A part of a table that is loaded in one transaction, and the seed's path to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its place in `Workload::tables`.
    pub table: usize,
    /// Which part of it; what that means is the workload's affair.
    pub number: u64,
    /// About how many rows: for shares of work, progress and space.
    pub rows: u64,
}

/// How a transaction came to its end without a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// To be committed.
    Commit,
    /// To be rolled back, as the workload's specification has it.
    RollBack,
}

/// Parameters of one transaction, drawn once; it runs again with the same parameters if it must be retried.
pub trait Transaction: Send {
    /// Its statements, without BEGIN and COMMIT.
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure>;

    /// Whether it is one statement, which a DBMS may commit by itself (`--autocommit`).
    fn is_single(&self) -> bool {
        false
    }
}

/// A condition on the data that holds between transactions.
#[derive(Debug)]
pub struct Check {
    /// As its specification numbers it, else a short name: `3.3.2.1`.
    pub name: &'static str,
    /// What must hold, in a sentence.
    pub says: &'static str,
    /// Finds the rows where it does not, key columns first, by names; set-based. No parameters.
    pub failing: Statement,
}

/// At one scale, with one set of options.
pub trait Workload: Send + Sync {
    /// As the command line knows it.
    fn name(&self) -> &'static str;

    /// How large; its meaning is the workload's (warehouses, thousands of subscribers, …).
    fn scale(&self) -> f64;

    /// In numbering order.
    fn kinds(&self) -> &'static [Kind];

    /// In the order they are made.
    fn tables(&self) -> &'static [Table];

    /// All of all tables, in any order; they may be loaded at the same time.
    fn parts(&self) -> Vec<Part>;

    /// Writes the rows of a part, the same for the same seed of the data.
    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure>;

    /// Parameters of a transaction. `home`: which user draws it, in a closed loop (TPC-C: its terminal); None: an
    /// arrival of an open loop, so draw one.
    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction>;

    /// Looks at the loaded data before a run, for what it needs to know of it (YCSB: the last key). May keep it behind
    /// an atomic.
    fn meet(&self, on: &mut dyn Connection) -> Result<(), Failure> {
        let _ = on;
        Ok(())
    }

    /// What must hold before and after every run.
    fn checks(&self) -> &'static [Check];
}
