//! A new record, with the next key.

use std::sync::{Arc, OnceLock};

use crate::oltp::ycsb::keys::Keys;
use crate::oltp::ycsb::settings::Fields;
use crate::oltp::ycsb::statements::{INSERT, record};
use crate::oltp::{Connection, Ended, Failure, Random, Transaction, Trouble, Value};

/// Widest leap after a key that somebody else has inserted.
const LEAP: u64 = 1024;

/// Parameters.
#[derive(Debug)]
pub struct Insert {
    keys: Arc<Keys>,
    /// Claimed by the first try, kept by the others: what is never sent leaves no gap.
    key: OnceLock<u64>,
    record: Vec<Value>,
    leap: u64,
}

impl Insert {
    /// With all its fields.
    pub fn draw(keys: &Arc<Keys>, random: &mut Random) -> Self {
        Self {
            keys: Arc::clone(keys),
            key: OnceLock::new(),
            record: record(0, Fields::All, random),
            leap: random.below(LEAP),
        }
    }
}

impl Transaction for Insert {
    /// Rolls back where another driver has inserted the key.
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let key = *self.key.get_or_init(|| self.keys.claim());
        let mut record = self.record.clone();
        record[0] = Value::Int(key as i64);
        match on.run(&INSERT, &record) {
            Ok(_) => {
                self.keys.inserted(key);
                Ok(Ended::Commit)
            }
            Err(failure) if failure.trouble == Trouble::Duplicate => {
                self.keys.leap(self.leap);
                Ok(Ended::RollBack)
            }
            Err(failure) => Err(failure),
        }
    }

    fn is_single(&self) -> bool {
        true
    }
}
