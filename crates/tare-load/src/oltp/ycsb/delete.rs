//! A record goes. A key that is gone already changes no row and commits all the same.

use crate::oltp::ycsb::statements::DELETE;
use crate::oltp::{Connection, Ended, Failure, Transaction, Value};

/// Parameters.
#[derive(Debug)]
pub struct Delete {
    /// Whose.
    pub key: u64,
}

impl Transaction for Delete {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&DELETE, &[Value::Int(self.key as i64)])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
