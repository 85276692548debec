//! Delete call forwarding: 31.25% find one, by the same reckoning as for inserting it.

use crate::oltp::tatp::value::{STARTS, TYPES, sub_nbr};
use crate::oltp::tatp::{ID_OF_NUMBER, found};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static DELETE: Statement =
    Statement::new("DELETE FROM call_forwarding WHERE s_id = $1 AND sf_type = $2 AND start_time = $3");

/// Parameters.
#[derive(Debug)]
pub struct DeleteCallForwarding {
    s_id: i64,
    sub_nbr: String,
    sf_type: i64,
    start_time: i64,
}

impl DeleteCallForwarding {
    /// Of this subscriber.
    pub fn draw(s_id: i64, random: &mut Random) -> Self {
        Self {
            s_id,
            sub_nbr: sub_nbr(s_id),
            sf_type: *random.one_of(&TYPES),
            start_time: *random.one_of(&STARTS),
        }
    }
}

impl Transaction for DeleteCallForwarding {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let by_number = on.row(&ID_OF_NUMBER, &[self.sub_nbr.as_str().into()])?;
        let s_id = found(by_number, self.s_id)?.int(0)?;
        let deleted = on.run(&DELETE, &[s_id, self.sf_type, self.start_time].map(Value::Int))?;
        Ok(if deleted == 0 { Ended::RollBack } else { Ended::Commit })
    }
}
