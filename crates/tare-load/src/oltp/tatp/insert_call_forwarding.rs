//! Insert call forwarding: 31.25% insert one, since the subscriber must have the special facility (62.5%) and not
//! have a forwarding from that hour already (half of these).

use crate::oltp::tatp::value::{STARTS, TYPES, numberx, sub_nbr};
use crate::oltp::tatp::{ID_OF_NUMBER, found};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Trouble, Value};

static FACILITIES: Statement = Statement::new("SELECT sf_type FROM special_facility WHERE s_id = $1");

/// Refuses, by inserting nothing, what a foreign key to the special facility would refuse.
static INSERT: Statement = Statement::new(
    "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) \
     SELECT s_id, sf_type, $3, $4, $5 FROM special_facility WHERE s_id = $1 AND sf_type = $2",
);

/// Parameters.
#[derive(Debug)]
pub struct InsertCallForwarding {
    s_id: i64,
    sub_nbr: String,
    sf_type: i64,
    start_time: i64,
    end_time: i64,
    numberx: String,
}

impl InsertCallForwarding {
    /// Of this subscriber. The description draws both hours by themselves: one may end before it starts.
    pub fn draw(s_id: i64, random: &mut Random) -> Self {
        Self {
            s_id,
            sub_nbr: sub_nbr(s_id),
            sf_type: *random.one_of(&TYPES),
            start_time: *random.one_of(&STARTS),
            end_time: random.between(1, 24),
            numberx: numberx(random),
        }
    }
}

impl Transaction for InsertCallForwarding {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let by_number = on.row(&ID_OF_NUMBER, &[self.sub_nbr.as_str().into()])?;
        let s_id = found(by_number, self.s_id)?.int(0)?;
        on.rows(&FACILITIES, &[Value::Int(s_id)])?;
        let record = [
            Value::Int(s_id),
            Value::Int(self.sf_type),
            Value::Int(self.start_time),
            Value::Int(self.end_time),
            self.numberx.as_str().into(),
        ];
        match on.run(&INSERT, &record) {
            Ok(0) => Ok(Ended::RollBack),
            Ok(_) => Ok(Ended::Commit),
            Err(failure) if failure.trouble == Trouble::Duplicate => Ok(Ended::RollBack),
            Err(failure) => Err(failure),
        }
    }
}
