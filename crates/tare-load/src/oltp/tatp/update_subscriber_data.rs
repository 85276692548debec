//! Update subscriber data: 62.5% have the special facility that is changed with it; else nothing is changed.

use crate::oltp::tatp::value::{TYPES, byte};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static SUBSCRIBER: Statement = Statement::new("UPDATE subscriber SET bit_1 = $1 WHERE s_id = $2");
static FACILITY: Statement =
    Statement::new("UPDATE special_facility SET data_a = $1 WHERE s_id = $2 AND sf_type = $3");

/// Parameters.
#[derive(Debug)]
pub struct UpdateSubscriberData {
    s_id: i64,
    bit_1: i64,
    sf_type: i64,
    data_a: i64,
}

impl UpdateSubscriberData {
    /// Of this subscriber.
    pub fn draw(s_id: i64, random: &mut Random) -> Self {
        Self { s_id, bit_1: random.between(0, 1), sf_type: *random.one_of(&TYPES), data_a: byte(random) }
    }
}

impl Transaction for UpdateSubscriberData {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let changed = on.batch(&[
            (&SUBSCRIBER, [self.bit_1, self.s_id].map(Value::Int).to_vec()),
            (&FACILITY, [self.data_a, self.s_id, self.sf_type].map(Value::Int).to_vec()),
        ])?;
        Ok(if changed.last() == Some(&0) { Ended::RollBack } else { Ended::Commit })
    }
}
