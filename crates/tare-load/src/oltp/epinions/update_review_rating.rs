//! A user thinks again of an item, if he has reviewed it.

use crate::oltp::epinions::fill::RATINGS;
use crate::oltp::epinions::population::Population;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction};

static RATE: Statement = Statement::new("UPDATE review SET rating = $1 WHERE i_id = $2 AND u_id = $3");

pub struct UpdateReviewRating {
    item: i64,
    user: i64,
    rating: i64,
}

impl UpdateReviewRating {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { item: all.item(random), user: all.user(random), rating: random.below(RATINGS) as i64 }
    }
}

impl Transaction for UpdateReviewRating {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&RATE, &[self.rating.into(), self.item.into(), self.user.into()])?;
        Ok(Ended::Commit)
    }
}
