//! The rows.

use crate::oltp::epinions::population::{Population, USUAL_SKEW, slice};
use crate::oltp::epinions::schema::{ITEM, REVIEW, TRUST, USER};
use crate::oltp::noise::noise;
use crate::oltp::skewed::Skewed;
use crate::oltp::{Failure, Part, Random, Rows};

/// Of a user.
pub const NAME_LENGTH: usize = 24;
/// Of an item.
pub const TITLE_LENGTH: usize = 128;
const EMAIL_LENGTH: usize = 24;
const DESCRIPTION_LENGTHS: u64 = 512;
const SHORTEST_TEXT: u64 = 32;
const TEXT_LENGTHS: u64 = 256 - SHORTEST_TEXT;

/// 0 to 4.
pub const RATINGS: u64 = 5;

/// 2022-01-01, µs since 1970.
const FIRST_INSTANT: i64 = 1_640_995_200_000_000;
/// Three years, in seconds.
const SECONDS: u64 = 1_096 * 86_400;

impl Population {
    /// Of users and of those they trust, or of items and their reviews.
    pub fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        match part.table {
            USER => slice(part.number, self.users).try_for_each(|user| self.user_row(user, rows)),
            ITEM => self.fill_items(part.number, rows),
            REVIEW => self.fill_reviews(part.number, rows),
            _ => slice(part.number, self.users).try_for_each(|user| self.trust_rows(user, rows)),
        }
    }

    fn user_row(&self, user: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
        let mut random = Random::at(self.seed, &[USER as u64, user]);
        rows.int(user as i64);
        rows.text(&noise(&mut random, NAME_LENGTH));
        rows.text(&noise(&mut random, EMAIL_LENGTH));
        rows.time(instant(&mut random));
        rows.end()
    }

    fn fill_items(&self, number: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
        let lengths = Skewed::new(DESCRIPTION_LENGTHS, USUAL_SKEW);
        slice(number, self.items).try_for_each(|item| {
            let mut random = Random::at(self.seed, &[ITEM as u64, item]);
            rows.int(item as i64);
            rows.text(&noise(&mut random, TITLE_LENGTH));
            let length = lengths.rank(&mut random) as usize;
            rows.text(&noise(&mut random, length));
            rows.time(instant(&mut random));
            rows.end()
        })
    }

    fn fill_reviews(&self, number: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
        let lengths = Skewed::new(TEXT_LENGTHS, USUAL_SKEW);
        let mut review = self.first_review(number);
        for item in slice(number, self.items) {
            let mut random = Random::at(self.seed, &[REVIEW as u64, item]);
            for user in self.reviewers(self.reviews_of(item), &mut random) {
                rows.int(review);
                rows.int(user as i64);
                rows.int(item as i64);
                rows.int(random.below(RATINGS) as i64);
                rows.null();
                let length = (SHORTEST_TEXT + lengths.rank(&mut random)) as usize;
                rows.text(&noise(&mut random, length));
                rows.time(instant(&mut random));
                rows.end()?;
                review += 1;
            }
        }
        Ok(())
    }

    fn trust_rows(&self, user: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
        let mut random = Random::at(self.seed, &[TRUST as u64, user]);
        self.trusted(self.trusted_by(user), &mut random).into_iter().try_for_each(|trusted| {
            rows.int(user as i64);
            rows.int(trusted as i64);
            rows.int(random.below(2) as i64);
            rows.time(instant(&mut random));
            rows.end()
        })
    }
}

fn instant(random: &mut Random) -> i64 {
    FIRST_INSTANT + random.below(SECONDS) as i64 * 1_000_000
}
