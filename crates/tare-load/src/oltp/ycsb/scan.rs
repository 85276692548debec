//! Records in the order of their keys, from one on.

use crate::oltp::ycsb::settings::Settings;
use crate::oltp::ycsb::statements::SCAN;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

/// Parameters.
#[derive(Debug)]
pub struct Scan {
    from: u64,
    records: i64,
    scan: &'static Statement,
}

impl Scan {
    /// From this key on; each length up to the longest is as likely as the next.
    pub fn draw(from: u64, settings: &Settings, random: &mut Random) -> Self {
        let records = random.between(1, settings.scan_length as i64);
        Self { from, records, scan: SCAN.draw(settings.read, random) }
    }
}

impl Transaction for Scan {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(self.scan, &[Value::Int(self.from as i64), Value::Int(self.records)])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
