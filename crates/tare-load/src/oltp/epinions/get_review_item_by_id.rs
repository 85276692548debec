//! An item and its ten best reviews.

use crate::oltp::{Connection, Ended, Failure, Statement, Transaction};

static REVIEWS: Statement = Statement::new(
    "SELECT * FROM review r, item i WHERE i.i_id = r.i_id AND r.i_id = $1 \
     ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
);

pub struct GetReviewItemById {
    pub item: i64,
}

impl Transaction for GetReviewItemById {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&REVIEWS, &[self.item.into()])?;
        Ok(Ended::Commit)
    }
}
