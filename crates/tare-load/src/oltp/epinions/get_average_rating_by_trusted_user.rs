//! What those whom a user trusts think of an item.

use crate::oltp::{Connection, Ended, Failure, Statement, Transaction};

static AVERAGE: Statement = Statement::new(
    "SELECT round(avg(r.rating), 4) FROM review r, trust t \
     WHERE r.u_id = t.target_u_id AND r.i_id = $1 AND t.source_u_id = $2",
);

pub struct GetAverageRatingByTrustedUser {
    pub item: i64,
    pub user: i64,
}

impl Transaction for GetAverageRatingByTrustedUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&AVERAGE, &[self.item.into(), self.user.into()])?;
        Ok(Ended::Commit)
    }
}
