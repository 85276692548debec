//! One record by its key. A key that was deleted gives no row and commits all the same.

use crate::oltp::ycsb::settings::Fields;
use crate::oltp::ycsb::statements::READ;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

/// Parameters.
#[derive(Debug)]
pub struct Read {
    key: u64,
    read: &'static Statement,
}

impl Read {
    /// Of this key.
    pub fn draw(key: u64, fields: Fields, random: &mut Random) -> Self {
        Self::by(key, READ.draw(fields, random))
    }

    /// Of this key, in these words.
    pub fn by(key: u64, read: &'static Statement) -> Self {
        Self { key, read }
    }
}

impl Transaction for Read {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.row(self.read, &[Value::Int(self.key as i64)])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
