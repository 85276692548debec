//! Update location: a subscriber, found by number, has moved.

use crate::oltp::tatp::value::{location, sub_nbr};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static UPDATE: Statement = Statement::new("UPDATE subscriber SET vlr_location = $1 WHERE sub_nbr = $2");

/// Parameters.
#[derive(Debug)]
pub struct UpdateLocation {
    vlr_location: i64,
    sub_nbr: String,
}

impl UpdateLocation {
    /// Of this subscriber.
    pub fn draw(s_id: i64, random: &mut Random) -> Self {
        Self { vlr_location: location(random), sub_nbr: sub_nbr(s_id) }
    }
}

impl Transaction for UpdateLocation {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let changed = on.run(&UPDATE, &[Value::Int(self.vlr_location), self.sub_nbr.as_str().into()])?;
        Ok(if changed == 0 { Ended::RollBack } else { Ended::Commit })
    }
}
