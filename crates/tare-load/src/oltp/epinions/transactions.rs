//! The nine transactions.

use super::fill::{NAME_LENGTH, RATINGS, TITLE_LENGTH};
use super::population::Population;
use crate::oltp::noise::noise;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static ITEM_AND_REVIEWS: Statement = Statement::new(
    "SELECT * FROM review r, item i WHERE i.i_id = r.i_id AND r.i_id = $1 \
     ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
);

/// An item and its ten best reviews.
pub struct GetReviewItemById {
    pub item: i64,
}

impl Transaction for GetReviewItemById {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&ITEM_AND_REVIEWS, &[self.item.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static USER_AND_REVIEWS: Statement = Statement::new(
    "SELECT * FROM review r, useracct u WHERE u.u_id = r.u_id AND r.u_id = $1 \
     ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
);

/// A user and the ten best of his reviews.
pub struct GetReviewsByUser {
    pub user: i64,
}

impl Transaction for GetReviewsByUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&USER_AND_REVIEWS, &[self.user.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static AVERAGE_OF_TRUSTED: Statement = Statement::new(
    "SELECT round(avg(r.rating), 4) FROM review r, trust t \
     WHERE r.u_id = t.target_u_id AND r.i_id = $1 AND t.source_u_id = $2",
);

/// What those whom a user trusts think of an item.
pub struct GetAverageRatingByTrustedUser {
    pub item: i64,
    pub user: i64,
}

impl Transaction for GetAverageRatingByTrustedUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&AVERAGE_OF_TRUSTED, &[self.item.into(), self.user.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static AVERAGE_OF_ALL: Statement = Statement::new("SELECT round(avg(rating), 4) FROM review WHERE i_id = $1");

/// What all think of an item.
pub struct GetItemAverageRating {
    pub item: i64,
}

impl Transaction for GetItemAverageRating {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&AVERAGE_OF_ALL, &[self.item.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static REVIEWS_OF_ITEM: Statement =
    Statement::new("SELECT * FROM review WHERE i_id = $1 ORDER BY creation_date DESC");
static TRUSTED: Statement = Statement::new("SELECT * FROM trust WHERE source_u_id = $1");

/// The reviews of an item, and whom a user trusts; the client would put the two together.
pub struct GetItemReviewsByTrustedUser {
    pub item: i64,
    pub user: i64,
}

impl Transaction for GetItemReviewsByTrustedUser {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.rows(&REVIEWS_OF_ITEM, &[self.item.into()])?;
        on.rows(&TRUSTED, &[self.user.into()])?;
        Ok(Ended::Commit)
    }
}

static RENAME: Statement = Statement::new("UPDATE useracct SET name = $1 WHERE u_id = $2");

/// A user takes another name.
pub struct UpdateUserName {
    user: i64,
    name: String,
}

impl UpdateUserName {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { user: all.user(random), name: noise(random, NAME_LENGTH) }
    }
}

impl Transaction for UpdateUserName {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&RENAME, &[Value::from(&*self.name), self.user.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static RETITLE: Statement = Statement::new("UPDATE item SET title = $1 WHERE i_id = $2");

/// An item gets another title.
pub struct UpdateItemTitle {
    item: i64,
    title: String,
}

impl UpdateItemTitle {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { item: all.item(random), title: noise(random, TITLE_LENGTH) }
    }
}

impl Transaction for UpdateItemTitle {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&RETITLE, &[Value::from(&*self.title), self.item.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}

static RATE: Statement = Statement::new("UPDATE review SET rating = $1 WHERE i_id = $2 AND u_id = $3");

/// A user thinks again of an item, if he has reviewed it.
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

    fn is_single(&self) -> bool {
        true
    }
}

static TRUST: Statement =
    Statement::new("UPDATE trust SET trust = $1 WHERE source_u_id = $2 AND target_u_id = $3");

/// A user says again whether he trusts another, if he has said so before.
pub struct UpdateTrustRating {
    source: i64,
    target: i64,
    trust: i64,
}

impl UpdateTrustRating {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { source: all.user(random), target: all.user(random), trust: random.below(2) as i64 }
    }
}

impl Transaction for UpdateTrustRating {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&TRUST, &[self.trust.into(), self.source.into(), self.target.into()])?;
        Ok(Ended::Commit)
    }

    fn is_single(&self) -> bool {
        true
    }
}
