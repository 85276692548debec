//! Get access data: 62.5% find some, since a subscriber has 2.5 of 4 types on average.

use crate::oltp::tatp::value::TYPES;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static GET: Statement =
    Statement::new("SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = $1 AND ai_type = $2");

/// Parameters.
#[derive(Debug)]
pub struct GetAccessData {
    s_id: i64,
    ai_type: i64,
}

impl GetAccessData {
    /// Of this subscriber.
    pub fn draw(s_id: i64, random: &mut Random) -> Self {
        Self { s_id, ai_type: *random.one_of(&TYPES) }
    }
}

impl Transaction for GetAccessData {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let found = on.row(&GET, &[Value::Int(self.s_id), Value::Int(self.ai_type)])?;
        Ok(if found.is_some() { Ended::Commit } else { Ended::RollBack })
    }

    fn is_single(&self) -> bool {
        true
    }
}
