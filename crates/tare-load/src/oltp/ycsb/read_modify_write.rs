//! A record is read, then written, in one transaction; its lock is taken by the read, so that two of these wait for
//! each other instead of one of them failing.

use crate::oltp::ycsb::read::Read;
use crate::oltp::ycsb::settings::Settings;
use crate::oltp::ycsb::statements::READ_TO_WRITE;
use crate::oltp::ycsb::update::Update;
use crate::oltp::{Connection, Ended, Failure, Random, Transaction};

/// Parameters.
#[derive(Debug)]
pub struct ReadModifyWrite {
    read: Read,
    write: Update,
}

impl ReadModifyWrite {
    /// Of this key.
    pub fn draw(key: u64, settings: &Settings, random: &mut Random) -> Self {
        Self {
            read: Read::by(key, READ_TO_WRITE.draw(settings.read, random)),
            write: Update::draw(key, settings.write, random),
        }
    }
}

impl Transaction for ReadModifyWrite {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        self.read.run(on)?;
        self.write.run(on)
    }
}
