//! What all think of an item.

use crate::oltp::{Connection, Ended, Failure, Statement, Transaction};

static AVERAGE: Statement = Statement::new("SELECT round(avg(rating), 4) FROM review WHERE i_id = $1");

pub struct GetItemAverageRating {
    pub item: i64,
}

impl Transaction for GetItemAverageRating {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&AVERAGE, &[self.item.into()])?;
        Ok(Ended::Commit)
    }
}
