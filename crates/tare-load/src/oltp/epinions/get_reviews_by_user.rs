//! A user and the ten best of his reviews.

use crate::oltp::{Connection, Ended, Failure, Statement, Transaction};

static REVIEWS: Statement = Statement::new(
    "SELECT * FROM review r, useracct u WHERE u.u_id = r.u_id AND r.u_id = $1 \
     ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
);

pub struct GetReviewsByUser {
    pub user: i64,
}

impl Transaction for GetReviewsByUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&REVIEWS, &[self.user.into()])?;
        Ok(Ended::Commit)
    }
}
