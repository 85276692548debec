//! The reviews of an item, and whom a user trusts; the client would put the two together.

use crate::oltp::{Connection, Ended, Failure, Statement, Transaction};

static REVIEWS: Statement =
    Statement::new("SELECT * FROM review WHERE i_id = $1 ORDER BY creation_date DESC");
static TRUSTED: Statement = Statement::new("SELECT * FROM trust WHERE source_u_id = $1");

pub struct GetItemReviewsByTrustedUser {
    pub item: i64,
    pub user: i64,
}

impl Transaction for GetItemReviewsByTrustedUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&REVIEWS, &[self.item.into()])?;
        on.rows(&TRUSTED, &[self.user.into()])?;
        Ok(Ended::Commit)
    }
}
