//! New text in a record. A key that was deleted changes no row and commits all the same.

use crate::oltp::ycsb::settings::Fields;
use crate::oltp::ycsb::statements::{UPDATE, record};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

/// Parameters.
#[derive(Debug)]
pub struct Update {
    update: &'static Statement,
    record: Vec<Value>,
}

impl Update {
    /// Of this key.
    pub fn draw(key: u64, fields: Fields, random: &mut Random) -> Self {
        Self { update: UPDATE.draw(fields, random), record: record(key, fields, random) }
    }
}

impl Transaction for Update {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(self.update, &self.record)?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
