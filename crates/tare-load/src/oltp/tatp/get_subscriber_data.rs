//! Get subscriber data: all of one subscriber. Always finds it.

use crate::oltp::tatp::found;
use crate::oltp::{Connection, Ended, Failure, Statement, Transaction, Value};

static GET: Statement = Statement::new(
    "SELECT s_id, sub_nbr, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10, \
     hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10, \
     byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10, \
     msc_location, vlr_location FROM subscriber WHERE s_id = $1",
);

/// Parameters.
#[derive(Debug)]
pub struct GetSubscriberData {
    /// Whose.
    pub s_id: i64,
}

impl Transaction for GetSubscriberData {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        found(on.row(&GET, &[Value::Int(self.s_id)])?, self.s_id)?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
